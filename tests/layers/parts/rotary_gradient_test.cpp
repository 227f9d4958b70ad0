#include "layers/parts/rotary.h"
#include "tests/gradient_check.h"

namespace weft::layers::rotary_gradient_test {
namespace {

TEST(RotaryGradient, agrees_with_differences) {
  for (const Index length : {1, 7, 130}) {
    const Rotary rotary(6, length);
    tests::check_gradient("rotary",
                          [&](const Pass&, const std::vector<Var>& in) {
                            return rotary.turn(in[0], {0, 24}, 2, length);
                          },
                          {tests::random_tensor({2 * length, 36}, 1)});
  }
}

}  // namespace
}  // namespace weft::layers::rotary_gradient_test
