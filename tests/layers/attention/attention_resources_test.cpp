// What mechanisms cost and keep, and that threads change nothing: the same in any precision.
#include "core/counters.h"
#include "core/memory.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_contract.h"

namespace weft::layers::attention_resources_test {
namespace {

using tests::same_bits;

class AttentionContractResources : public AttentionContract {};

// Where what is read depends on the data, the stated cost is the most it can be.
void expect_stated(Index counted, Index stated, bool at_most) {
  EXPECT_LE(counted, stated);
  if (!at_most) {
    EXPECT_EQ(counted, stated);
  }
}

TEST_P(AttentionContractResources, stated_cost_is_what_the_kernels_count) {
  const bool at_most = traits().adaptive;
  for (const Index heads : {1, 3})
    for (const Index length : {1, 7, 128, 129, 300})
      for (const Sequences& s : forms(length)) {
        SCOPED_TRACE(describe(s));
        const AttentionSample it = sample(s, heads);
        const Cost cost = it.attention().cost(it.sequences());
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

TEST_P(AttentionContractResources, stated_saved_bytes_are_what_stays_in_the_pool) {
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
      const Index stated = it.attention().cost(it.sequences()).saved_bytes;
      EXPECT_GE(kept, stated);
      EXPECT_LE(kept, stated + stated / 8 + 256) << "more than the pool's rounding of blocks";
    }
}

TEST_P(AttentionContractResources, any_number_of_threads_gives_the_same_bits) {
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

TEST_P(AttentionContractResources, nothing_grows_with_the_square_of_the_length) {
  constexpr Index length = 2048;
  const AttentionSample it = sample(Sequences::self(1, length, traits().causal), 1, 8);
  core::reset_memory_peak();
  it.run();
  const Index square = length * length * Index(sizeof(Real));
  EXPECT_LT(core::memory_use().largest, square / 32);
  EXPECT_LT(core::memory_use().peak, square / 2);
}

TEST_P(AttentionContractResources, says_what_it_is) {
  const AttentionTraits t = traits();
  EXPECT_FALSE(t.summary.empty());
  EXPECT_FALSE(t.keys_per_token.empty());
  EXPECT_FALSE(t.decode_state.empty());
  EXPECT_TRUE(t.causal || t.bidirectional);
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractResources,
                         testing::ValuesIn(registry_and_variants()), name_of);

}  // namespace
}  // namespace weft::layers::attention_resources_test
