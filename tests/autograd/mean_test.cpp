#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::mean_test {
namespace {

using tests::random_tensor;

TEST(Mean, averages_all_elements_and_shares_its_gradient_out) {
  for (const Shape& shape : {Shape{1}, Shape{2, 3, 5}, Shape{300, 131}}) {
    const Tensor x = random_tensor(shape, 1);
    const auto pulled =
        tests::pull_back([](const Pass&, const std::vector<Var>& in) { return mean(in[0]); }, {x});
    double expected = 0;
    for (const Real v : x.read()) expected += v / double(x.size());
    tests::expect_close(pulled.value.read(), {expected}, 1e-6);
    tests::expect_close(
        pulled.gradients[0].read(),
        std::vector<double>(x.read().size(), core::scalar(pulled.upstream) / double(x.size())),
        1e-6);
  }
}

TEST(Mean, refuses_to_average_nothing) { EXPECT_THROW(mean(Var(Tensor())), core::Error); }

}  // namespace
}  // namespace weft::autograd::mean_test
