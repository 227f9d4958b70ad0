#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::span_nats_gradient_test {
namespace {

TEST(SpanNatsGradient, agrees_with_differences_for_one_several_and_no_answers) {
  const core::Tokens documents({3, 2}, {3, 8, 1, 1, 2, 9});
  const core::Tokens answers({3, 3, 2}, {3, 8, 4, 4, 4, 6,      //
                                         0, 0, -1, -1, -1, -1,  //
                                         -1, -1, -1, -1, -1, -1});
  tests::check_gradient(
      "span_nats",
      [&](const Pass&, const std::vector<Var>& x) { return span_nats(x[0], documents, answers); },
      {tests::random_tensor({3 * 10, 2}, 1)});
}

}  // namespace
}  // namespace weft::autograd::span_nats_gradient_test
