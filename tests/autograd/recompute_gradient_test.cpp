#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::recompute_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

struct Layer {
  Parameter gain, bias, weight;

  explicit Layer(Index width)
      : gain({width}, Init::ones()),
        bias({width}, Init::zeros()),
        weight({width, width}, Init::zeros()) {}

  Var run(const Pass& pass, const Var& x) const {
    const Var inner = linear(layer_norm(x, gain, bias, Real(1e-5)), weight);
    return add(x, dropout(pass, inner, Real(0.4)));
  }
  std::vector<Parameter*> parameters() { return {&gain, &bias, &weight}; }
};

TEST(RecomputeGradient, agrees_with_differences) {
  for (const Shape& shape : {Shape{1, 6}, Shape{2, 3, 11}, Shape{300, 13}}) {
    Layer layer(shape.back());
    check_gradient(
        "recompute",
        [&](const Pass& pass, const Inputs& x) {
          return recompute(
              pass, [&](const Pass& p, const Var& in) { return layer.run(p.at("f"), in); }, x[0]);
        },
        {random_tensor(shape, 1)}, layer.parameters());
  }
}

TEST(RecomputeGradient, agrees_with_differences_when_nested) {
  Layer outer(7), inner(7);
  std::vector<Parameter*> parameters = outer.parameters();
  for (Parameter* p : inner.parameters()) parameters.push_back(p);
  const auto innermost = [&](const Pass& pass, const Var& x) { return inner.run(pass, x); };
  const auto around = [&](const Pass& pass, const Var& x) {
    return recompute(pass.at("inner"), innermost, outer.run(pass.at("outer"), x));
  };
  check_gradient(
      "recompute",
      [&](const Pass& pass, const Inputs& x) {
        return add(recompute(pass.at(0), around, x[0]), recompute(pass.at(1), around, x[0]));
      },
      {random_tensor({5, 7}, 1)}, parameters);
}

}  // namespace
}  // namespace weft::autograd::recompute_gradient_test
