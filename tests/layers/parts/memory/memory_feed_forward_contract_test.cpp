#include <cmath>
#include <set>

#include "core/counters.h"
#include "core/error.h"
#include "layers/parts/memory/memory_feed_forward.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/drawn_weights.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/parts/part_bits.h"

namespace weft::layers::memory_feed_forward_contract_test {
namespace {

using QueryNorm = MemorySettings::QueryNorm;

constexpr double tolerance = 2000 * tests::epsilon;

/// All C² scores of one head of one row, best first, of equals the lower slot.
std::vector<std::pair<double, Index>> naive_ranking(const Tensor& q, const Grid& keys, Index row,
                                                    Index head, Index side, Index half) {
  std::vector<std::pair<double, Index>> ranked;
  const Grid queries(q);
  const auto score = [&](Index part, Index key) {
    double sum = 0;
    for (Index c = 0; c < half; ++c)
      sum += queries.at(row, (2 * head + part) * half + c) *
             keys.numbers[std::size_t(((2 * head + part) * side + key) * half + c)];
    return sum;
  };
  for (Index slot = 0; slot < side * side; ++slot)
    ranked.emplace_back(-(score(0, slot / side) + score(1, slot % side)), slot);
  std::ranges::sort(ranked);
  return ranked;
}

struct Tables {
  Tables(Index heads, Index side, Index half, Index width)
      : keys({heads, 2, side, half}, Init::zeros()),
        values({side * side, width}, Init::zeros(), autograd::RowSparse{}),
        drawn(*this) {}
  void visit(Inventory& inventory) {
    inventory.add("keys", keys);
    inventory.add("values", values);
  }
  Parameter keys, values;
  DrawnWeights<Tables> drawn;
};

TEST(Memory, finds_the_best_slots_of_all_by_two_half_searches) {
  for (const Index side : {1, 2, 5, 12})
    for (const Index top : {1, 2, 5, 16, 32}) {
      if (top > side * side) continue;
      Tables tables(2, side, 3, 4);
      const Tensor q = tests::random_tensor({40, 12}, 1);
      const Slots slots = search_slots(q, {tables.keys, tables.values, top});
      const Grid keys = tables.drawn.weights().at("keys");
      for (Index row = 0; row < 40; ++row)
        for (Index h = 0; h < 2; ++h) {
          const auto ranked = naive_ranking(q, keys, row, h, side, 3);
          for (Index i = 0; i < top; ++i)
            EXPECT_EQ(slots[std::size_t((row * 2 + h) * top + i)], ranked[std::size_t(i)].second)
                << "row " << row << ", rank " << i << " of " << top;
        }
    }
}

TEST(Memory, of_equal_scores_reads_the_lower_slots) {
  Tables tables(1, 4, 1, 2);
  std::ranges::fill(tables.drawn.arena().values(), Real(1));
  EXPECT_EQ(search_slots(Tensor({1, 2}, 1), {tables.keys, tables.values, 4}), (Slots{0, 1, 2, 3}));
}

TEST(Memory, that_reads_every_slot_is_a_softmax_over_all_of_them) {
  MemoryFeedForward part(4, {.keys = 3, .heads = 2, .top = 9, .query = 6, .norm = QueryNorm::none},
                         Init::zeros());
  const DrawnWeights drawn(part);
  const Weights w = drawn.weights();
  const Tensor x = tests::random_tensor({5, 4}, 1);
  Grid q(5, 12), expected(5, 4);
  for (Index r = 0; r < 5; ++r)
    for (Index c = 0; c < 12; ++c) {
      q.at(r, c) = w.at("query.bias").at(0, c);
      for (Index i = 0; i < 4; ++i) q.at(r, c) += Grid(x).at(r, i) * w.at("query.weight").at(c, i);
    }
  Tensor queries({5, 12});
  std::ranges::copy(q.numbers, queries.write().begin());
  for (Index r = 0; r < 5; ++r)
    for (Index h = 0; h < 2; ++h) {
      const auto ranked = naive_ranking(queries, w.at("keys"), r, h, 3, 3);
      double all = 0;
      for (const auto& [minus, slot] : ranked) all += std::exp(-minus);
      for (const auto& [minus, slot] : ranked)
        for (Index c = 0; c < 4; ++c)
          expected.at(r, c) += std::exp(-minus) / all * w.at("values").at(slot, c);
    }
  tests::expect_close(part.forward(Pass(), Var(x), Sequences::self(1, 5, true)).value().read(),
                      expected.numbers, tolerance);
}

TEST(Memory, leaves_padding_out_of_everything) {
  for (const QueryNorm norm : {QueryNorm::none, QueryNorm::layer, QueryNorm::batch}) {
    MemoryFeedForward part(4, {.keys = 4, .heads = 2, .top = 3, .query = 6, .norm = norm},
                           Init::zeros());
    DrawnWeights drawn(part);
    Sequences rows = Sequences::self(2, 4, true);
    rows.key_lengths = std::make_shared<std::vector<Index>>(std::vector<Index>{4, 1});
    Tensor x = tests::random_tensor({8, 4}, 1);
    const Tensor upstream = tests::random_tensor({8, 4}, 2);
    const auto run = [&] {
      autograd::Tape tape;
      autograd::Journal journal;
      drawn.arena().zero_gradients();
      const Var in = tape.watch(x);
      const Var y = part.forward(Pass(tape, core::Rng(1), journal), in, rows);
      tape.sweep(y, upstream);
      std::vector<Real> all(y.value().read().begin(), y.value().read().end());
      for (const auto& more :
           {tape.gradient(in).read(), std::span<const Real>(drawn.arena().gradients())})
        all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    const std::vector<Real> first = run();
    for (std::size_t i = 20; i < 32; ++i) {
      EXPECT_EQ(first[i], 0) << "output";
      EXPECT_EQ(first[32 + i], 0) << "gradient";
      x.write()[i] = 7;
    }
    EXPECT_TRUE(tests::same_bits(first, run())) << int(norm);
  }
}

TEST(Memory, touches_exactly_the_rows_of_values_that_were_read) {
  MemoryFeedForward part(4, {.keys = 6, .heads = 2, .top = 2, .query = 4}, Init::zeros());
  DrawnWeights drawn(part);
  drawn.arena().zero_gradients();
  autograd::Tape tape;
  autograd::Journal journal;
  const Pass pass(tape, core::Rng(1), journal);
  const Var y =
      part.forward(pass, tape.watch(tests::random_tensor({3, 4}, 1)), Sequences::self(1, 3, true));
  tape.sweep(y, tests::random_tensor({3, 4}, 2));
  const auto slots = pass.decide("slots", [] { return Slots(); });
  const std::set<Index> read(slots->begin(), slots->end());
  for (const auto& slot : drawn.arena().slots()) {
    if (slot.name != "values") continue;
    EXPECT_TRUE(std::ranges::equal(*slot.touched, read));
    for (Index row = 0; row < 36; ++row) {
      const auto gradient = drawn.arena().row_gradient(slot, row);
      const bool any = std::ranges::any_of(gradient, [](Real g) { return g != 0; });
      EXPECT_EQ(any, read.contains(row)) << row;
    }
  }
}

TEST(Memory, decodes_what_it_computes_at_once_and_reads_the_slots_of_its_heads_only) {
  const Index W = 10, C = 9, H = 3, k = 4, q = 8;
  for (const QueryNorm norm : {QueryNorm::none, QueryNorm::layer, QueryNorm::batch}) {
    MemoryFeedForward part(W, {.keys = C, .heads = H, .top = k, .query = q, .norm = norm},
                           Init::zeros());
    const DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({30, W}, 1);
    const Index at_once = core::counters().flops;
    const Tensor whole = part.forward(Pass(), Var(x), Sequences::self(1, 30, true)).value();
    EXPECT_EQ(core::counters().flops - at_once, 2 * 30 * part.weights());
    EXPECT_EQ(part.weights(), W * H * q + H * C * q + H * k * W);
    for (Index t = 0; t < 30; ++t) {
      const Index before = core::counters().weight_bytes;
      tests::expect_close(part.step(x.rows(t, 1)).read(), tests::in_double(whole.rows(t, 1).read()),
                          tolerance);
      EXPECT_EQ(core::counters().weight_bytes - before, part.weights() * Index(sizeof(Real)));
    }
  }
}

TEST(Memory, any_number_of_threads_and_a_replay_give_the_same_bits) {
  MemoryFeedForward part(12, {.keys = 8, .heads = 3, .top = 5, .query = 10}, Init::zeros());
  expect_bits_on_any_threads_and_in_a_replay(part, Sequences::self(2, 100, true), 12);
}

TEST(Memory, metrics_say_how_slots_were_used_in_the_last_step) {
  MemoryFeedForward part(4, {.keys = 4, .heads = 1, .top = 2, .query = 4}, Init::zeros());
  DrawnWeights drawn(part);
  EXPECT_TRUE(part.metrics().empty());
  autograd::Tape tape;
  autograd::Journal journal;
  part.forward(Pass(tape, core::Rng(1), journal), Var(Tensor({8, 4}, 1)),
               Sequences::self(1, 8, true));
  journal.commit();
  const auto metrics = part.metrics();  // all rows alike: two of 16 slots
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "slots_hit");
  EXPECT_DOUBLE_EQ(metrics[0].value, 0.125);
  EXPECT_EQ(metrics[1].name, "unevenness");
  EXPECT_DOUBLE_EQ(metrics[1].value, 3);
}

TEST(Memory, settings_name_what_is_wrong) {
  for (const auto& [key, value] :
       std::map<std::string, Index>{{"memory_query", 7}, {"memory_top", 50000}}) {
    tests::GivenFields fields({{key, value}});
    MemorySettings().fields(fields);
    EXPECT_TRUE(fields.problems().contains(key)) << key;
  }
  EXPECT_THROW(MemoryFeedForward(4, {.keys = 2, .top = 5}, Init::zeros()), core::Error);
}

}  // namespace
}  // namespace weft::layers::memory_feed_forward_contract_test
