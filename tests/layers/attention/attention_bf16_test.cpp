// Mechanisms whose products are in bf16, against themselves in float32.
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_contract.h"

namespace weft::layers::attention_bf16_test {
namespace {

using tests::same_bits;

/// Factors have 8 bits: outputs and gradients are this close, as a share of the largest number.
constexpr double tolerance = 0.03;

double distance(std::span<const Real> a, std::span<const Real> b) {
  double largest = 1e-3, farthest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double(b[i])));
    const double apart = std::abs(double(a[i]) - double(b[i]));
    farthest = apart <= farthest ? farthest : apart;  // a NaN stays
  }
  return farthest / largest;
}

class AttentionContractBf16 : public AttentionContract {
 protected:
  AttentionSample rounded(const Sequences& s) const {
    return {GetParam().kind, s, 2, 16, GetParam().settings, {}, core::Precision::bf16};
  }
};

TEST_P(AttentionContractBf16, follows_float32_where_its_traits_say_so_and_equals_it_elsewhere) {
  for (const Sequences& s : forms(129)) {
    SCOPED_TRACE(describe(s));
    const auto exact = sample(s, 2, 16).run(), run = rounded(s).run();
    EXPECT_EQ(same_bits(exact.out.read(), run.out.read()), !traits().bf16);
    EXPECT_LE(distance(run.out.read(), exact.out.read()), tolerance);
    for (std::size_t i = 0; i < exact.gradients.size(); ++i)
      EXPECT_LE(distance(run.gradients[i].read(), exact.gradients[i].read()), tolerance) << i;
    EXPECT_LE(distance(run.parameter_gradients, exact.parameter_gradients), tolerance);
  }
}

TEST_P(AttentionContractBf16, any_number_of_threads_gives_the_same_bits) {
  const AttentionSample it = rounded(Sequences::self(2, 129, traits().causal));
  core::set_threads(1);
  const auto alone = it.run();
  core::set_threads(3);
  const auto together = it.run();
  EXPECT_TRUE(same_bits(alone.out.read(), together.out.read()));
  for (std::size_t i = 0; i < alone.gradients.size(); ++i)
    EXPECT_TRUE(same_bits(alone.gradients[i].read(), together.gradients[i].read())) << i;
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractBf16,
                         testing::ValuesIn(registry_and_variants()), name_of);

class AttentionContractBf16Causal : public AttentionContractBf16 {};

TEST_P(AttentionContractBf16Causal, outputs_before_a_change_keep_their_bits) {
  const Index length = 129, t = 65;
  const Sequences s = Sequences::self(2, length, true);
  const Tensor out = rounded(s).evaluate();
  AttentionSample after = rounded(s);
  for (std::size_t i = 0; i < after.inputs().size(); ++i) {
    const auto other = tests::random_tensor(after.inputs()[i].shape(), 100 + i, 10);
    const auto row = std::size_t(after.inputs()[i].shape().back());
    std::span<Real> x = after.inputs()[i].write();
    for (std::size_t j = 0; j < x.size(); ++j)
      if (Index(j / row) % length >= t) x[j] = other.read()[j];
  }
  const Tensor changed = after.evaluate();
  for (Index b = 0; b < 2; ++b)
    EXPECT_TRUE(same_bits(out.rows(b * length, t).read(), changed.rows(b * length, t).read()));
}

TEST_P(AttentionContractBf16Causal, decoding_gives_what_the_whole_pass_gives) {
  const Index length = 129;
  const AttentionSample it = rounded(Sequences::self(1, length, true));
  EXPECT_LE(distance(it.decode(0).read(), it.evaluate().read()), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractBf16Causal,
                         testing::ValuesIn(those_that([](const AttentionTraits& traits) {
                           return traits.causal && traits.bf16;
                         })),
                         name_of);

}  // namespace
}  // namespace weft::layers::attention_bf16_test
