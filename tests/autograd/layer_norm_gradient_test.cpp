#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::layer_norm_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;

void check(const Shape& shape, Real eps, const Tensor& x) {
  Parameter gain({shape.back()}, Init::ones()), bias({shape.back()}, Init::zeros());
  check_gradient(
      "layer_norm",
      [&](const Pass&, const std::vector<Var>& in) { return layer_norm(in[0], gain, bias, eps); },
      {x}, {&gain, &bias});
}

TEST(LayerNormGradient, agrees_with_differences) {
  for (const Shape& shape :
       {Shape{9}, Shape{1, 17}, Shape{7, 33}, Shape{2, 3, 11}, Shape{600, 130}})
    check(shape, Real(1e-5), random_tensor(shape, 1));
}

TEST(LayerNormGradient, agrees_where_eps_matters) {
  for (const Shape& shape : {Shape{5, 1}, Shape{5, 2}, Shape{3, 3}})
    check(shape, 1, random_tensor(shape, 1));
}

TEST(LayerNormGradient, agrees_far_from_the_origin) {
  Tensor x = random_tensor({5, 12}, 1);
  for (Real& v : x.write()) v += 30;
  check({5, 12}, Real(1e-5), x);
}

}  // namespace
}  // namespace weft::autograd::layer_norm_gradient_test
