// The gradient of every mechanism, in every form that its traits allow.
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_contract.h"

namespace weft::layers::attention_gradient_test {
namespace {

class AttentionContractGradient : public AttentionContract {};

// Lengths about the edges of power-of-two tiles, and the shortest.
constexpr Index lengths[] = {1, 2, 7, 31, 32, 33, 127, 128, 129, 257, 300};

// Moves numbers away from zero, where a feature map may have a kink that differences would cross.
void leave_zero(std::vector<Tensor>& inputs) {
  constexpr Real least = Real(5e-3);
  for (Tensor& input : inputs)
    for (Real& x : input.write())
      if (std::abs(x) < least) x = x < 0 ? -least : least;
}

TEST_P(AttentionContractGradient, agrees_with_differences) {
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

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractGradient,
                         testing::ValuesIn(registry_and_variants()), name_of);

}  // namespace
}  // namespace weft::layers::attention_gradient_test
