#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::reversible_gradient_test {
namespace {

using tests::check_gradient;
using Inputs = std::vector<Var>;

// Linear branches with dropout, each with a factor that it decides by its input.
struct Stack {
  explicit Stack(Index width, std::size_t depth) {
    for (std::size_t i = 0; i < depth; ++i)
      weights.emplace_back(Shape{width, width}, Init::zeros());
  }
  Sublayer branch(std::size_t i) const {
    return [this, i](const Pass& pass, const Var& x) {
      const auto sign = pass.at(i).decide("sign", [&] { return x.value().read()[0] < 0 ? -1 : 1; });
      const Var h = linear(relu(x), weights[i]);
      return dropout(pass.at(i), scale(h, Real(0.5 * *sign)), Real(0.3));
    };
  }
  std::vector<Sublayer> branches() const {
    std::vector<Sublayer> all;
    for (std::size_t i = 0; i < weights.size(); ++i) all.push_back(branch(i));
    return all;
  }
  std::vector<Parameter*> parameters() {
    std::vector<Parameter*> all;
    for (Parameter& weight : weights) all.push_back(&weight);
    return all;
  }
  std::vector<Parameter> weights;
};

TEST(ReversibleGradient, agrees_with_differences) {
  for (const StreamOutput output : {StreamOutput::average, StreamOutput::concat})
    for (const std::size_t depth : {1, 2, 3, 6}) {
      Stack stack(7, depth);
      check_gradient(
          "reversible",
          [&](const Pass& pass, const Inputs& x) {
            return reversible(pass, stack.branches(), x[0], x[0], output);
          },
          {tests::random_tensor({2, 5, 7}, 1)}, stack.parameters());
    }
}

TEST(ReversibleGradient, agrees_with_differences_where_two_streams_begin_apart) {
  for (const std::size_t depth : {0, 1, 3, 4}) {
    Stack stack(7, depth);
    check_gradient(
        "reversible",
        [&](const Pass& pass, const Inputs& x) {
          return reversible(pass, stack.branches(), x[0], x[1], StreamOutput::average);
        },
        {tests::random_tensor({5, 7}, 1), tests::random_tensor({5, 7}, 2)}, stack.parameters());
  }
}

TEST(ReversibleGradient, agrees_with_differences_inside_a_part_that_is_run_again) {
  Stack stack(5, 4);
  const auto part = [&](const Pass& pass, const Var& x) {
    return add(x, reversible(pass, stack.branches(), x, x, StreamOutput::average));
  };
  check_gradient(
      "reversible", [&](const Pass& pass, const Inputs& x) { return recompute(pass, part, x[0]); },
      {tests::random_tensor({4, 5}, 1)}, stack.parameters());
}

}  // namespace
}  // namespace weft::autograd::reversible_gradient_test
