// Forward and backward of every op, bit for bit on any number of threads.
#include "autograd/ops.h"
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::thread_count_contract_test {
namespace {

using tests::random_tensor;
using tests::random_tokens;
using Inputs = std::vector<Var>;
using Parameters = std::vector<Parameter>;

/// An op at sizes that split into several pieces.
struct OpCase {
  std::string name;
  std::vector<Shape> inputs, parameters;
  std::function<Var(const Pass&, const Inputs&, const Parameters&)> f;
};

const Shape wide{700, 130};

Var layer(const Pass& pass, const Var& x, const Parameters& p) {
  const Var inner = bias_gelu(linear(layer_norm(x, p[0], p[1], Real(1e-5)), p[2]), p[3]);
  return add(x, dropout(pass, linear(inner, p[4]), Real(0.3)));
}

std::vector<OpCase> all_ops() {
  const std::vector<Shape> layer_parameters{{130}, {130}, {200, 130}, {200}, {130, 200}};
  return {
      {"add", {wide, wide}, {}, [](auto&, auto& x, auto&) { return add(x[0], x[1]); }},
      {"add_positions",
       {wide},
       {{360, 130}},
       [](auto&, auto& x, auto& p) { return add_positions(x[0], p[0], 350, 5); }},
      {"bias_gelu", {wide}, {{130}}, [](auto&, auto& x, auto& p) { return bias_gelu(x[0], p[0]); }},
      {"concat", {wide, {700, 77}}, {}, [](auto&, auto& x, auto&) { return concat(x); }},
      {"cross_entropy",
       {{700, 40}},
       {{3000, 40}, {3000}},
       [](auto&, auto& x, auto& p) {
         return cross_entropy(x[0], p[0], &p[1], random_tokens({700}, 3000, 1));
       }},
      {"dropout",
       {wide},
       {},
       [](auto& pass, auto& x, auto&) { return dropout(pass, x[0], Real(0.3)); }},
      {"embedding",
       {},
       {{5, 200}},
       [](auto& pass, auto&, auto& p) {
         return embedding(pass, random_tokens({900}, 5, 1), p[0]);
       }},
      {"layer_norm",
       {wide},
       {{130}, {130}},
       [](auto&, auto& x, auto& p) { return layer_norm(x[0], p[0], p[1], Real(1e-5)); }},
      {"linear",
       {wide},
       {{150, 130}, {150}},
       [](auto&, auto& x, auto& p) { return linear(x[0], p[0], &p[1]); }},
      {"linear_of_few_rows",
       {{100, 300}},
       {{700, 300}},
       [](auto&, auto& x, auto& p) { return linear(x[0], p[0]); }},
      {"linear_onto",
       {{700, 150}, wide},
       {{150, 130}, {150}},
       [](auto&, auto& x, auto& p) { return linear_onto(x[0], x[1], p[0], &p[1]); }},
      {"matmul", {wide, {130, 600}}, {}, [](auto&, auto& x, auto&) { return matmul(x[0], x[1]); }},
      {"mean", {wide}, {}, [](auto&, auto& x, auto&) { return mean(x[0]); }},
      {"recompute",
       {wide},
       layer_parameters,
       [](auto& pass, auto& x, auto& p) {
         return recompute(
             pass, [&p](const Pass& inner, const Var& in) { return layer(inner, in, p); }, x[0]);
       }},
      {"relu", {wide}, {}, [](auto&, auto& x, auto&) { return relu(x[0]); }},
      {"reshape",
       {wide},
       {},
       [](auto&, auto& x, auto&) {
         return reshape(x[0], {350, 260});
       }},
      {"scale", {wide}, {}, [](auto&, auto& x, auto&) { return scale(x[0], Real(0.7)); }},
      {"slice", {wide}, {}, [](auto&, auto& x, auto&) { return slice(x[0], 3, 99); }},
      {"sum", {wide}, {}, [](auto&, auto& x, auto&) { return sum(x[0]); }},
      {"as_variable",
       {},
       {wide},
       [](auto& pass, auto&, auto& p) { return as_variable(pass, p[0]); }},
      {"layer",
       {wide},
       layer_parameters,
       [](auto& pass, auto& x, auto& p) {
         return layer(pass.at(1), layer(pass.at(0), x[0], p), p);
       }},
  };
}

/// Value, input gradients and parameter gradients behind one another.
std::vector<Real> everything(const OpCase& op) {
  Parameters parameters;
  parameters.reserve(op.parameters.size());
  std::vector<Parameter*> pointers;
  for (const Shape& shape : op.parameters)
    pointers.push_back(&parameters.emplace_back(shape, Init::zeros()));
  tests::DrawnParameters drawn(pointers);
  std::vector<Tensor> inputs;
  for (const Shape& shape : op.inputs) inputs.push_back(random_tensor(shape, inputs.size()));
  const auto pulled = tests::pull_back(
      [&](const Pass& pass, const Inputs& x) { return op.f(pass, x, parameters); }, inputs);
  std::vector<Real> all(pulled.value.read().begin(), pulled.value.read().end());
  for (const Tensor& gradient : pulled.gradients)
    all.insert(all.end(), gradient.read().begin(), gradient.read().end());
  const auto gradients = drawn.arena().gradients();
  all.insert(all.end(), gradients.begin(), gradients.end());
  return all;
}

class OnAnyThreadCount : public testing::TestWithParam<OpCase> {
 protected:
  void TearDown() override { core::set_threads(0); }
};

TEST_P(OnAnyThreadCount, gives_the_same_bits) {
  core::set_threads(1);
  const auto alone = everything(GetParam());
  for (const Index n : {2, 3, 7})
    for (int repeat = 0; repeat < 2; ++repeat) {
      core::set_threads(n);
      EXPECT_TRUE(tests::same_bits(everything(GetParam()), alone)) << n << " threads";
    }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, OnAnyThreadCount, testing::ValuesIn(all_ops()),
                         [](const auto& op) { return op.param.name; });

}  // namespace
}  // namespace weft::autograd::thread_count_contract_test
