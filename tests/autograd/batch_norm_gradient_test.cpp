#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::batch_norm_gradient_test {
namespace {

using Inputs = std::vector<Var>;

TEST(BatchNormGradient, agrees_with_differences) {
  for (const Real eps : {Real(1e-5), Real(1)})
    for (const Shape& shape : {Shape{3, 1}, Shape{7, 5}, Shape{2, 3, 11}, Shape{600, 13}}) {
      Parameter gain({shape.back()}, Init::ones()), bias({shape.back()}, Init::zeros());
      tests::check_gradient("batch_norm",
                            [&](const Pass&, const Inputs& in) {
                              return batch_norm(in[0], gain, bias, eps,
                                                column_moments(in[0].value()));
                            },
                            {tests::random_tensor(shape, 1)}, {&gain, &bias});
    }
}

TEST(BatchNormGradient, agrees_with_differences_where_moments_are_frozen) {
  Parameter gain({5}, Init::ones()), bias({5}, Init::zeros());
  const Tensor moments = column_moments(tests::random_tensor({50, 5}, 2));
  tests::check_gradient("frozen_norm",
                        [&](const Pass&, const Inputs& in) {
                          return frozen_norm(in[0], gain, bias, Real(1e-5), moments);
                        },
                        {tests::random_tensor({7, 5}, 1)}, {&gain, &bias});
}

}  // namespace
}  // namespace weft::autograd::batch_norm_gradient_test
