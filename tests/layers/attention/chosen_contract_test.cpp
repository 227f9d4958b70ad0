// Mechanisms in which queries choose what they read: what they are at the ends of their settings,
// that no open block is seen, and what their parts promise.
#include <cmath>

#include "core/counters.h"
#include "layers/attention/chosen/index_loss.h"
#include "layers/attention/chosen/position_branch.h"
#include "layers/attention/chosen/soft_pool.h"
#include "layers/attention/pattern/call.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_contract.h"

namespace weft::layers::chosen_contract_test {
namespace {

using tests::same_bits;

constexpr Index H = 2, D = 4;
constexpr double close = sizeof(Real) == sizeof(double) ? 1e-12 : 1e-5;

Sequences self(Index length) { return Sequences::self(2, length, true); }

AttentionSample sample(const std::string& kind, const Sequences& s,
                       const tests::Settings& settings) {
  return {kind, s, H, D, settings};
}

/// Every mechanism of this file with small sizes.
std::vector<AttentionVariant> small() {
  std::vector<AttentionVariant> all;
  for (const AttentionVariant& variant : chosen_variants())
    if (!variant.settings.contains("kv_heads")) all.push_back(variant);
  return all;
}

/// Sets all gates of NSA, coarse, fine and near, to constants.
void set_gates(AttentionSample& it, double coarse, double fine, double near) {
  const double bias[] = {coarse, fine, near};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& parameters = it.inventory().parameters();
    std::ranges::fill(parameters.at(2 * i).parameter->writable(), Real(0));
    std::ranges::fill(parameters.at(2 * i + 1).parameter->writable(), Real(bias[i]));
  }
}

TEST(Moba, is_dense_attention_where_its_blocks_hold_everything) {
  for (const Index length : {1, 15, 16, 17, 48})
    for (const Index blocks : {3, 9})
      tests::expect_close(sample("moba", self(length), {{"block", Index(16)}, {"blocks", blocks}})
                              .evaluate()
                              .read(),
                          tests::in_double(sample("dense", self(length), {}).evaluate().read()),
                          close);
}

TEST(Moba, with_one_block_reads_the_past_of_its_own_block) {
  const Sequences s = self(50);
  const AttentionSample blocks = sample(
      "pattern", s,
      {{"atoms", std::vector<tests::Settings>{{{"kind", "block_local"}, {"block", Index(16)}}}}});
  tests::expect_close(
      sample("moba", s, {{"block", Index(16)}, {"blocks", Index(1)}}).evaluate().read(),
      tests::in_double(blocks.evaluate().read()), close);
}

TEST(Nsa, is_a_window_where_only_the_last_gate_is_open) {
  const Sequences s = self(70);
  AttentionSample it = sample("nsa", s, {{"window", Index(9)}});
  set_gates(it, -1e4, -1e4, 1e4);
  tests::expect_close(
      it.evaluate().read(),
      tests::in_double(sample("local", s, {{"window", Index(9)}}).evaluate().read()), close);
}

TEST(Nsa, is_dense_attention_where_it_selects_everything_or_entries_are_tokens) {
  const Sequences s = self(70);
  const Tensor dense = sample("dense", s, {}).evaluate();
  AttentionSample fine = sample("nsa", s, {{"select_block", Index(8)}, {"selected", Index(9)}});
  set_gates(fine, -1e4, 1e4, -1e4);
  tests::expect_close(fine.evaluate().read(), tests::in_double(dense.read()), close);
  AttentionSample coarse = sample("nsa", s, {{"block", Index(1)}, {"stride", Index(1)}});
  set_gates(coarse, 1e4, -1e4, -1e4);
  tests::expect_close(coarse.evaluate().read(), tests::in_double(dense.read()), close);
}

TEST(Indexed, is_dense_attention_where_it_selects_everything) {
  for (const Index length : {1, 2, 40})
    tests::expect_close(
        sample("indexed", self(length), {{"selected", Index(40)}}).evaluate().read(),
        tests::in_double(sample("dense", self(length), {}).evaluate().read()), close);
}

TEST(Indexed, reads_the_latest_tokens_where_all_scores_are_equal) {
  const Sequences s = self(40);
  AttentionSample it = sample("indexed", s, {{"selected", Index(7)}});
  std::ranges::fill(it.inventory().parameters().at(5).parameter->writable(), Real(0));
  tests::expect_close(
      it.evaluate().read(),
      tests::in_double(sample("local", s, {{"window", Index(7)}}).evaluate().read()), close);
}

TEST(Indexed, reads_everything_until_its_dense_steps_are_over) {
  const Sequences s = self(40);
  AttentionSample it = sample("indexed", s, {{"selected", Index(3)}, {"dense_steps", Index(2)}});
  const Tensor dense = sample("dense", s, {}).evaluate();
  const Tensor chosen = sample("indexed", s, {{"selected", Index(3)}}).evaluate();
  for (Index step = 0; step < 3; ++step) {
    tests::expect_close(it.evaluate().read(), tests::in_double((step < 2 ? dense : chosen).read()),
                        close);
    tests::expect_close(it.decode(0).read(), tests::in_double(it.evaluate().rows(0, 40).read()),
                        1e-4);
    autograd::Tape tape;
    autograd::Journal journal;
    std::vector<Var> leaves;
    for (const Tensor& x : it.inputs()) leaves.push_back(tape.watch(x));
    it.forward(Pass(tape, core::Rng(3), journal), leaves);
    journal.commit();
  }
}

TEST(Indexed, charges_a_loss_of_the_index_that_the_input_does_not_feel) {
  for (const double weight : {0.0, 2.0}) {
    AttentionSample it = sample("indexed", self(30), {{"selected", Index(5)}, {"loss", weight}});
    autograd::Tape tape;
    autograd::Journal journal;
    std::vector<Var> leaves;
    for (const Tensor& x : it.inputs()) leaves.push_back(tape.watch(x));
    const Var out = it.forward(Pass(tape, core::Rng(3), journal), leaves);
    EXPECT_EQ(journal.has_charges(), weight > 0);
    it.arena().zero_gradients();
    journal.penalty_gradient = 1;
    tape.sweep(out, Tensor(out.shape(), 0));
    double squares = 0;
    for (const Real g : it.arena().gradients()) squares += double(g) * double(g);
    EXPECT_EQ(squares > 0, weight > 0);
    for (const Var& leaf : leaves)
      for (const Real g : tape.gradient(leaf).read()) ASSERT_EQ(g, 0);
  }
}

TEST(IndexLoss, is_zero_where_the_index_agrees_with_attention) {
  // Equal keys: everything that a query reads has the same weight, and the index says so too.
  const Sequences s = self(9);
  const GatheredProblem problem{.sequences = s,
                                .heads = H,
                                .key_heads = H,
                                .head_width = D,
                                .scale = 1,
                                .read =
                                    [](Index, Index t, std::vector<std::int32_t>& rows) {
                                      for (Index j = 0; j <= t; ++j)
                                        rows.push_back(std::int32_t(j));
                                    },
                                .most = 9};
  const HeadBlock q{Var(tests::random_tensor({18, H * D}, 1)), 0},
      k{Var(Tensor({18, H * D}, Real(0.5))), 0};
  const IndexLoss loss{{.heads = 1, .width = 2},
                       problem,
                       q,
                       k,
                       gathered_attention(problem, {q, k, k}).log_sums,
                       1,
                       18};
  const Var agreed = loss.of({{Var(tests::random_tensor({18, 2}, 2))},
                              Var(Tensor({18, 2}, 1)),
                              Var(tests::random_tensor({18, 1}, 3))});
  EXPECT_NEAR(core::scalar(agreed.value()), 0, 1e-6);
  const Var other = loss.of({{Var(tests::random_tensor({18, 2}, 2))},
                             Var(tests::random_tensor({18, 2}, 4)),
                             Var(tests::random_tensor({18, 1}, 3))});
  EXPECT_GT(core::scalar(other.value()), 1e-4);
}

TEST(Compressed, is_a_window_before_its_first_entry_is_closed) {
  const Sequences s = self(15);
  const tests::Settings settings{{"window", Index(6)}, {"sink", "none"}};
  tests::expect_close(
      sample("compressed", s, settings).evaluate().read(),
      tests::in_double(sample("local", s, {{"window", Index(6)}}).evaluate().read()), close);
}

TEST(Compressed, decoding_keeps_a_window_and_entries_only) {
  const AttentionSample it =
      sample("compressed", self(300), {{"window", Index(8)}, {"ratio", Index(10)}});
  const auto bytes_after = [&](Index tokens) {
    const auto state = it.attention().begin();
    std::vector<Real> row(std::size_t(H * D), Real(1)), out(row);
    for (Index t = 0; t < tokens; ++t)
      it.attention().step(*state, {{row, row, row, row}, row, t}, out);
    return state->bytes();
  };
  // Ten entries more, of a key and a value each.
  EXPECT_EQ(bytes_after(200) - bytes_after(100), 10 * 2 * H * D * Index(sizeof(Real)));
}

// Outputs before the only token that is changed, for every such token: those that differ.
template <class Evaluate>
Index moved_by_later_tokens(Index length, const Evaluate& evaluate) {
  Index moved = 0;
  const Tensor before = evaluate(-1);
  for (Index t = 1; t < length; ++t) {
    const Tensor after = evaluate(t);
    for (Index r = 0; r < t; ++r)
      moved += !same_bits(before.rows(r, 1).read(), after.rows(r, 1).read());
  }
  return moved;
}

void change_row(Tensor& x, Index row) {
  const Tensor other = tests::random_tensor({1, x.shape()[1]}, 77, 10);
  std::ranges::copy(other.read(), x.write().begin() + row * x.shape()[1]);
}

TEST(ChosenBlocks, no_token_is_seen_before_its_place) {
  for (const AttentionVariant& variant : small()) {
    SCOPED_TRACE(variant.name);
    for (const Index length : {2, 23, 45})
      EXPECT_EQ(moved_by_later_tokens(length,
                                      [&](Index changed) {
                                        AttentionSample it =
                                            sample(variant.kind, self(length), variant.settings);
                                        for (Tensor& x : it.inputs())
                                          if (changed >= 0) change_row(x, changed);
                                        return it.evaluate();
                                      }),
                0);
  }
}

TEST(ChosenBlocks, an_entry_that_is_read_while_it_is_open_would_be_caught) {
  const Index length = 22, ratio = 4;
  const SoftPool pool{ratio, D};
  for (const Index early : {0, 1}) {  // entries seen before they are closed
    const PositionBranch branch(
        {1, 0, D, 1}, [&](Index tokens) { return pool.entries(tokens) + tokens; },
        [&](Index tokens) {
          return united(stair_pattern([&](Index t) {
                          return early > 0 ? std::min(t / ratio + 1, pool.entries(length))
                                           : pool.entries(t + 1);
                        }),
                        window_behind(pool.entries(tokens), 3));
        });
    const Index moved = moved_by_later_tokens(length, [&](Index changed) {
      Tensor x = tests::random_tensor({length, 4 * D}, 1);
      if (changed >= 0) change_row(x, changed);
      const Var joined =
          pool.join({{Var(x), D}, {Var(x), 2 * D}, {Var(x), 3 * D}}, Var(Tensor({ratio, D}, 0)), 1);
      return PatternCall{branch.problem(Sequences::self(1, length, true)),
                         {{Var(x), 0}, {joined, 0}, {joined, D}},
                         {},
                         {}}
          .attend()
          .value();
    });
    EXPECT_EQ(moved > 0, early > 0) << moved << " earlier outputs changed";
  }
}

TEST(ChosenBlocks, what_stands_in_padding_does_not_matter_and_gives_zeros) {
  for (const AttentionVariant& variant : small()) {
    SCOPED_TRACE(variant.name);
    const Sequences s = padded(self(41), {17, 41});
    const AttentionSample before = sample(variant.kind, s, variant.settings);
    AttentionSample after = sample(variant.kind, s, variant.settings);
    for (Tensor& x : after.inputs())
      for (Index t = 17; t < 41; ++t) change_row(x, t);
    const Tensor a = before.evaluate(), b = after.evaluate();
    EXPECT_TRUE(same_bits(a.read(), b.read()));
    for (const Real y : a.rows(17, 24).read()) ASSERT_EQ(y, 0);
  }
}

TEST(ChosenBlocks, state_the_pairs_that_they_score) {
  for (const AttentionVariant& variant : small()) {
    SCOPED_TRACE(variant.name);
    if (variant.name == "nsa_own") continue;  // without nearest blocks the data decide
    for (const Index length : {1, 4, 5, 6, 60}) {
      const AttentionSample it = sample(variant.kind, self(length), variant.settings);
      const Index before = core::counters().scored_pairs;
      it.evaluate();
      EXPECT_EQ(core::counters().scored_pairs - before,
                it.attention().cost(it.sequences()).scored_pairs);
    }
  }
}

TEST(AppendBest, takes_the_later_of_equal_scores_and_never_a_number_that_is_none) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const auto best = [](const std::vector<Real>& scores, Index count) {
    std::vector<std::int32_t> chosen;
    append_best(scores, count, chosen);
    return chosen;
  };
  using Chosen = std::vector<std::int32_t>;
  EXPECT_EQ(best({1, 3, 3, 3, 0}, 2), (Chosen{2, 3}));
  EXPECT_EQ(best({0, 0, 0, 0}, 3), (Chosen{1, 2, 3}));
  EXPECT_EQ(best({5, 4, 3}, 2), (Chosen{0, 1}));
  EXPECT_EQ(best({5, 4}, 7), (Chosen{0, 1}));
  EXPECT_EQ(best({nan, 1, nan, 2}, 2), (Chosen{1, 3}));
  EXPECT_EQ(best({1, 2}, 0), Chosen{});
}

TEST(PackedRows, give_the_same_bits_however_many_there_are) {
  const Index width = 5, count = 150;
  const Tensor rows = tests::random_tensor({count, width}, 1), x = tests::random_tensor({width}, 2);
  PackedRows all(width), growing(width);
  for (Index r = 0; r < count; ++r) all.append(rows.data() + r * width);
  std::vector<Real> whole, part;
  all.multiply(x.data(), count, whole);
  for (Index r = 0; r < count; ++r) {
    growing.append(rows.data() + r * width);
    growing.multiply(x.data(), r + 1, part);
    double expected = 0;
    for (Index d = 0; d < width; ++d)
      expected += double(x.data()[d]) * double(rows.data()[r * width + d]);
    EXPECT_NEAR(part[std::size_t(r)], expected, 1e-5);
    EXPECT_TRUE(same_bits(std::span<const Real>(part).first(std::size_t(r) + 1),
                          std::span<const Real>(whole).first(std::size_t(r) + 1)));
  }
}

}  // namespace
}  // namespace weft::layers::chosen_contract_test
