#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::rms_norm_gradient_test {
namespace {

TEST(RmsNormGradient, agrees_with_differences) {
  for (const Real eps : {Real(1e-5), Real(1)})
    for (const Shape& shape :
         {Shape{5, 1}, Shape{9}, Shape{1, 17}, Shape{2, 3, 11}, Shape{600, 130}}) {
      Parameter gain({shape.back()}, Init::ones());
      tests::check_gradient(
          "rms_norm",
          [&](const Pass&, const std::vector<Var>& in) { return rms_norm(in[0], gain, eps); },
          {tests::random_tensor(shape, 1)}, {&gain});
    }
}

}  // namespace
}  // namespace weft::autograd::rms_norm_gradient_test
