// What every mechanism of the registry must keep to. A new one needs no line here: it inherits
// these tests by being registered, and opts out of what its traits deny.
#include "autograd/ops.h"
#include "core/counters.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_oracles.h"
#include "tests/layers/attention/attention_variants.h"

namespace weft::layers {
namespace {

using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);

class AttentionContract : public testing::TestWithParam<AttentionVariant> {
 protected:
  ~AttentionContract() override { core::set_threads(0); }

  AttentionSample sample(const Sequences& sequences, Index heads = 3, Index head_width = 4) const {
    return {GetParam().kind, sequences, heads, head_width, GetParam().settings};
  }
  AttentionTraits traits() const { return sample(Sequences::self(1, 1, true)).traits(); }

  /// Two sequences of the given length in every form that the traits allow.
  std::vector<Sequences> forms(Index length) const {
    const AttentionTraits t = traits();
    std::vector<Sequences> all;
    for (const bool causal : {true, false}) {
      if (!(causal ? t.causal : t.bidirectional)) continue;
      const Sequences self = Sequences::self(2, length, causal);
      all.push_back(self);
      if (t.padding) all.push_back(padded(self, {(length + 1) / 2, length}));
      if (t.cross) all.push_back({2, length, 2 * length + 3, causal});
      if (t.cross && !causal) all.push_back({2, 2 * length + 3, length, causal});
    }
    return all;
  }
};

std::string describe(const Sequences& s) {
  return core::message_of(s.queries, " queries, ", s.keys, " keys", s.causal ? ", causal" : "",
                          s.key_lengths ? ", padded" : "");
}

// Lengths about the edges of power-of-two tiles, and the shortest.
constexpr Index lengths[] = {1, 2, 7, 31, 32, 33, 127, 128, 129, 257, 300};

// Moves numbers away from zero, where a feature map may have a kink that differences would cross.
void leave_zero(std::vector<Tensor>& inputs) {
  constexpr Real least = Real(5e-3);
  for (Tensor& input : inputs)
    for (Real& x : input.write())
      if (std::abs(x) < least) x = x < 0 ? -least : least;
}

TEST_P(AttentionContract, gradients_agree_with_differences) {
  for (const Index length : lengths)
    for (const Sequences& s : forms(length)) {
      if (s.keys == 1 && !traits().reads_self) continue;  // a token without keys gives 0
      SCOPED_TRACE(describe(s));
      AttentionSample it = sample(s);
      leave_zero(it.inputs());
      tests::check_gradient(
          GetParam().name,
          [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
          it.inputs(), it.arena());
    }
}

using Numbers = std::vector<double>;

std::vector<Numbers> moved(const std::vector<Numbers>& x, const std::vector<Numbers>& v, double h) {
  std::vector<Numbers> y = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x[i].size(); ++j) y[i][j] += h * v[i][j];
  return y;
}

// Output, and gradients projected on one random direction, against differences of the oracle.
void expect_like(const Oracle& oracle, const AttentionSample& it) {
  const auto run = it.run();
  std::vector<Numbers> x, v;
  double reverse = 0, squares = 0;
  for (std::size_t i = 0; i < it.inputs().size(); ++i) {
    x.push_back(tests::in_double(it.inputs()[i].read()));
    v.push_back(tests::in_double(tests::random_tensor(it.inputs()[i].shape(), 40 + i).read()));
    for (std::size_t j = 0; j < x[i].size(); ++j) {
      const double g = run.gradients[i].read()[j];
      reverse += g * v[i][j];
      squares += g * g;
    }
  }
  tests::expect_close(run.out.read(), oracle(it, x), in_double ? 1e-12 : 1e-5);
  const Tensor upstream = it.upstream();
  const double close = (in_double ? 1e-8 : 1e-5) * std::sqrt(squares);
  double numeric = 0;
  for (const double h : {1e-5, 1e-7}) {  // the shorter step for what bends within the longer one
    const Numbers above = oracle(it, moved(x, v, h)), below = oracle(it, moved(x, v, -h));
    numeric = 0;
    for (std::size_t j = 0; j < above.size(); ++j)
      numeric += double(upstream.read()[j]) * (above[j] - below[j]) / (2 * h);
    if (std::abs(reverse - numeric) <= close) break;
  }
  EXPECT_NEAR(reverse, numeric, close);
}

TEST_P(AttentionContract, float_and_double_agree_with_the_naive_formula) {
  const auto oracle = attention_oracles().find(GetParam().name);
  ASSERT_NE(oracle, attention_oracles().end()) << "add the naive formula of " << GetParam().name
                                               << " to tests/layers/attention/attention_oracles.h";
  for (const Index length : {1, 7, 129})
    for (const Sequences& s : forms(length)) {
      SCOPED_TRACE(describe(s));
      expect_like(oracle->second, sample(s));
    }
}

TEST_P(AttentionContract, outputs_before_a_change_keep_their_bits) {
  if (!traits().causal) GTEST_SKIP() << GetParam().name << " is not causal";
  for (const Index length : {2, 33, 129, 300}) {
    const AttentionSample before = sample(Sequences::self(2, length, true));
    const Tensor out = before.evaluate();
    for (const Index t : {Index(1), length / 2, length - 1}) {
      AttentionSample after = sample(Sequences::self(2, length, true));
      for (std::size_t i = 0; i < after.inputs().size(); ++i) {
        const auto other = tests::random_tensor(after.inputs()[i].shape(), 100 + i, 10);
        const auto row = std::size_t(after.inputs()[i].shape().back());
        std::span<Real> x = after.inputs()[i].write();
        for (std::size_t j = 0; j < x.size(); ++j)
          if (Index(j / row) % length >= t) x[j] = other.read()[j];
      }
      const Tensor changed = after.evaluate();
      for (Index b = 0; b < 2; ++b) {
        EXPECT_TRUE(same_bits(out.rows(b * length, t).read(), changed.rows(b * length, t).read()))
            << "sequence " << b << " of length " << length << " changed at " << t;
        // The second token reads the first whatever it holds itself where it is not among its own
        // keys, or among two tokens only as a last resort.
        if (traits().reads_self ? length > 2 || !traits().adaptive : t > 1) {
          EXPECT_FALSE(same_bits(out.rows(b * length + t, 1).read(),
                                 changed.rows(b * length + t, 1).read()));
        }
      }
    }
  }
}

TEST_P(AttentionContract, decoding_gives_what_the_whole_pass_gives) {
  if (!traits().causal) GTEST_SKIP() << GetParam().name << " is not causal";
  for (const Index length : {1, 2, 7, 129, 300}) {
    const AttentionSample it = sample(Sequences::self(2, length, true));
    const Tensor whole = it.evaluate();
    double largest = 1;
    for (const Real y : whole.read()) largest = std::max(largest, std::abs(double(y)));
    for (Index b = 0; b < 2; ++b) {
      const Tensor decoded = it.decode(b), expected = whole.rows(b * length, length);
      for (std::size_t i = 0; i < decoded.read().size(); ++i)
        ASSERT_NEAR(decoded.read()[i], expected.read()[i], (in_double ? 1e-10 : 1e-4) * largest)
            << "token " << Index(i) / it.width() << " of " << length;
    }
  }
}

// Where what is read depends on the data, the stated cost is the most it can be.
void expect_stated(Index counted, Index stated, bool at_most) {
  EXPECT_LE(counted, stated);
  if (!at_most) {
    EXPECT_EQ(counted, stated);
  }
}

TEST_P(AttentionContract, stated_cost_is_what_the_kernels_count) {
  const bool at_most = traits().adaptive;
  for (const Index heads : {1, 3})
    for (const Index length : {1, 7, 128, 129, 300})
      for (const Sequences& s : forms(length)) {
        SCOPED_TRACE(describe(s));
        const AttentionSample it = sample(s, heads);
        const Cost cost = it.attention().cost(s);
        autograd::Tape tape;
        autograd::Journal journal;
        std::vector<Var> leaves;
        for (const Tensor& x : it.inputs()) leaves.push_back(tape.watch(x));
        auto& counters = core::counters();
        const Index pairs = counters.scored_pairs, flops = counters.flops;
        const Var out = it.forward(Pass(tape, core::Rng(3), journal), leaves);
        expect_stated(counters.scored_pairs - pairs, cost.scored_pairs, at_most);
        const Index middle = counters.flops;
        expect_stated(middle - flops, cost.flops, at_most);
        tape.sweep(out, it.upstream());
        expect_stated(counters.flops - middle, cost.backward_flops, at_most);
      }
}

TEST_P(AttentionContract, stated_saved_bytes_are_what_stays_in_the_pool) {
  for (const Index length : {7, 129, 300})
    for (const Sequences& s : forms(length)) {
      SCOPED_TRACE(describe(s));
      const AttentionSample it = sample(s);
      autograd::Tape tape;
      autograd::Journal journal;
      std::vector<Var> leaves;
      for (const Tensor& x : it.inputs()) leaves.push_back(tape.watch(x));
      const Index before = core::memory_use().live;
      it.forward(Pass(tape, core::Rng(3), journal), leaves);
      const Index kept = core::memory_use().live - before;
      const Index stated = it.attention().cost(s).saved_bytes;
      EXPECT_GE(kept, stated);
      EXPECT_LE(kept, stated + stated / 8 + 256) << "more than the pool's rounding of blocks";
    }
}

TEST_P(AttentionContract, any_number_of_threads_gives_the_same_bits) {
  for (const Index heads : {1, 4})
    for (const Index length : {129, 300})
      for (const Sequences& s : forms(length)) {
        SCOPED_TRACE(describe(s));
        const AttentionSample it = sample(s, heads);
        core::set_threads(1);
        const auto alone = it.run();
        for (const Index threads : {2, 3, 7}) {
          core::set_threads(threads);
          const auto together = it.run();
          EXPECT_TRUE(same_bits(alone.out.read(), together.out.read())) << threads << " threads";
          EXPECT_TRUE(same_bits(alone.parameter_gradients, together.parameter_gradients));
          for (std::size_t i = 0; i < alone.gradients.size(); ++i)
            EXPECT_TRUE(same_bits(alone.gradients[i].read(), together.gradients[i].read()))
                << "input " << i << ", " << threads << " threads";
        }
      }
}

TEST_P(AttentionContract, the_same_stream_gives_the_same_output) {
  for (const Sequences& s : forms(129)) {
    SCOPED_TRACE(describe(s));
    const AttentionSample it = sample(s);
    const auto first = it.run(), second = it.run();
    EXPECT_TRUE(same_bits(first.out.read(), second.out.read()));
    for (std::size_t i = 0; i < first.gradients.size(); ++i)
      EXPECT_TRUE(same_bits(first.gradients[i].read(), second.gradients[i].read()));
  }
}

TEST_P(AttentionContract, a_replay_in_the_sweep_gives_the_same_gradients) {
  const AttentionSample it = sample(Sequences::self(2, 129, traits().causal));
  const std::size_t blocks = it.inputs().size() - 1;
  const Tensor packed = tests::random_tensor({2 * 129, Index(blocks) * it.width()}, 31);
  const auto attend = [&](const Pass& pass, const Var& in) {
    AttentionInput input{{}, Var(it.inputs().back()), it.sequences()};
    for (std::size_t i = 0; i < blocks; ++i) input.blocks.push_back({in, Index(i) * it.width()});
    return it.attention().forward(pass, input);
  };
  const auto gradient = [&](bool replayed) {
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass pass(tape, core::Rng(3), journal);
    const Var leaf = tape.watch(packed);
    const Var out = replayed ? autograd::recompute(pass, attend, leaf) : attend(pass, leaf);
    tape.sweep(out, it.upstream());
    return tape.gradient(leaf);
  };
  EXPECT_TRUE(same_bits(gradient(false).read(), gradient(true).read()));
}

TEST_P(AttentionContract, nothing_grows_with_the_square_of_the_length) {
  constexpr Index length = 2048;
  const AttentionSample it = sample(Sequences::self(1, length, traits().causal), 1, 8);
  core::reset_memory_peak();
  it.run();
  const Index square = length * length * Index(sizeof(Real));
  EXPECT_LT(core::memory_use().largest, square / 32);
  EXPECT_LT(core::memory_use().peak, square / 2);
}

TEST_P(AttentionContract, answers_a_query_alone_as_beside_others_where_it_says_so) {
  if (!traits().queries_alone) return;
  const Index queries = 9;
  const Sequences together = padded({2, queries, 20, false}, {13, 20});
  const AttentionSample it = sample(together);
  const Tensor all = it.evaluate();
  const auto row_of_each = [&](const Tensor& x, Index t) {
    Tensor rows({2, x.shape().back()});
    for (Index b = 0; b < 2; ++b)
      std::ranges::copy(x.rows(b * queries + t, 1).read(),
                        rows.write().begin() + b * x.shape().back());
    return rows;
  };
  for (Index t = 0; t < queries; ++t) {
    AttentionInput input{{}, Var(row_of_each(it.inputs().back(), t)), together};
    input.sequences.queries = 1;
    const auto projections = it.attention().projections();
    for (std::size_t i = 0; i < projections.size(); ++i) {
      const bool of_queries = projections[i].side == Projection::Side::queries;
      input.blocks.push_back(
          {Var(of_queries ? row_of_each(it.inputs()[i], t) : it.inputs()[i]), 0});
    }
    tests::expect_close(it.attention().forward(Pass(core::Rng(3)), input).value().read(),
                        tests::in_double(row_of_each(all, t).read()), in_double ? 1e-12 : 1e-5);
  }
}

TEST_P(AttentionContract, says_what_it_is) {
  const AttentionTraits t = traits();
  EXPECT_FALSE(t.summary.empty());
  EXPECT_FALSE(t.keys_per_token.empty());
  EXPECT_FALSE(t.decode_state.empty());
  EXPECT_TRUE(t.causal || t.bidirectional);
}

std::vector<AttentionVariant> registry_and_variants() {
  std::vector<AttentionVariant> all;
  for (const AttentionEntry& entry : attention_registry())
    all.push_back({std::string(entry.kind), std::string(entry.kind), {}});
  all.insert(all.end(), attention_variants().begin(), attention_variants().end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContract, testing::ValuesIn(registry_and_variants()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace weft::layers
