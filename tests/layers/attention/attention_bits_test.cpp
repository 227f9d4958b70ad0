// What must be the same to the last bit: another run, a replay, what comes before a change, a
// copied state. In float, as models are trained.
#include "autograd/ops.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_contract.h"

namespace weft::layers::attention_bits_test {
namespace {

using tests::same_bits;

class AttentionContractBits : public AttentionContract {};

TEST_P(AttentionContractBits, the_same_stream_gives_the_same_output) {
  for (const Sequences& s : forms(129)) {
    SCOPED_TRACE(describe(s));
    const AttentionSample it = sample(s);
    const auto first = it.run(), second = it.run();
    EXPECT_TRUE(same_bits(first.out.read(), second.out.read()));
    for (std::size_t i = 0; i < first.gradients.size(); ++i)
      EXPECT_TRUE(same_bits(first.gradients[i].read(), second.gradients[i].read()));
  }
}

TEST_P(AttentionContractBits, a_replay_in_the_sweep_gives_the_same_gradients) {
  const AttentionSample it = sample(Sequences::self(2, 129, traits().causal));
  std::vector<Index> first{0};
  for (std::size_t i = 0; i + 1 < it.inputs().size(); ++i)
    first.push_back(first.back() + it.inputs()[i].shape()[1]);
  const Tensor packed = tests::random_tensor({2 * it.sequences().keys, first.back()}, 31);
  const auto attend = [&](const Pass& pass, const Var& in) {
    AttentionInput input{{}, Var(it.inputs().back()), it.sequences()};
    for (std::size_t i = 0; i + 1 < first.size(); ++i) input.blocks.push_back({in, first[i]});
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

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractBits,
                         testing::ValuesIn(registry_and_variants()), name_of);

class AttentionContractCausalBits : public AttentionContract {};

TEST_P(AttentionContractCausalBits, outputs_before_a_change_keep_their_bits) {
  for (const Index length : {2, 33, 129, 300}) {
    const AttentionSample before = sample(Sequences::self(2, length, true));
    const Tensor out = before.evaluate();
    const Index rows = before.sequences().queries;
    const std::vector<Index> completed_with = before.completed_with();
    for (const Index t : {Index(1), length / 2, length - 1}) {
      AttentionSample after = sample(Sequences::self(2, length, true));
      for (std::size_t i = 0; i < after.inputs().size(); ++i) {
        const auto other = tests::random_tensor(after.inputs()[i].shape(), 100 + i, 10);
        const auto row = std::size_t(after.inputs()[i].shape().back());
        std::span<Real> x = after.inputs()[i].write();
        for (std::size_t j = 0; j < x.size(); ++j)
          if (completed_with[j / row % std::size_t(rows)] >= t) x[j] = other.read()[j];
      }
      const Tensor changed = after.evaluate();
      for (Index b = 0; b < 2; ++b) {
        for (Index r = 0; r < rows; ++r) {
          if (completed_with[std::size_t(r)] >= t) continue;
          EXPECT_TRUE(
              same_bits(out.rows(b * rows + r, 1).read(), changed.rows(b * rows + r, 1).read()))
              << "row " << r << " of sequence " << b << " of length " << length << " changed at "
              << t;
        }
        // The second token reads the first whatever it holds itself where it is not among its own
        // keys, or among two tokens only as a last resort.
        if (traits().reads_self ? length > 2 || !traits().adaptive : t > 1) {
          EXPECT_FALSE(same_bits(before.tokens_of(out, b).rows(t, 1).read(),
                                 before.tokens_of(changed, b).rows(t, 1).read()));
        }
      }
    }
  }
}

TEST_P(AttentionContractCausalBits, a_copied_state_is_continued_by_itself) {
  const AttentionSample it = sample(Sequences::self(1, 40, true));
  for (const Index after : {0, 1, 23})
    EXPECT_TRUE(same_bits(it.decode(0, after).read(), it.decode(0).read())) << after;
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractCausalBits,
                         testing::ValuesIn(those_that([](const AttentionTraits& traits) {
                           return traits.causal;
                         })),
                         name_of);

}  // namespace
}  // namespace weft::layers::attention_bits_test
