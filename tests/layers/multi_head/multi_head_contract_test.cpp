#include "layers/multi_head/multi_head.h"
#include "layers/settings/attention_plans.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::multi_head_contract_test {
namespace {

using tests::random_tensor;
using tests::Settings;

constexpr double tolerance = 600 * tests::epsilon;
constexpr Index width = 12, heads = 4, head_width = 6;

MultiHead make(const Settings& settings, bool rotary = false) {
  const AttentionSite site{.width = width, .heads = heads, .head_width = head_width, .length = 40};
  tests::GivenFields fields(settings);
  auto plan = read_attention(fields, "dense", site);
  EXPECT_TRUE(fields.problems().empty());
  return {plan, site, Init::zeros(), Init::zeros(),
          rotary ? std::make_shared<const Rotary>(head_width, 40) : nullptr};
}

// Three heads with a scale of 0.2 beside one with 0.7.
Settings two_groups() {
  return {{"groups", std::vector<Settings>{
                         {{"kind", std::string("dense")}, {"heads", Index(3)}, {"scale", 0.2}},
                         {{"kind", std::string("dense")}, {"heads", Index(1)}, {"scale", 0.7}}}}};
}

TEST(MultiHead, is_projections_heads_and_an_output_projection) {
  for (const bool rotary : {false, true})
    for (const Sequences& s : {Sequences::self(1, 1, true), Sequences::self(2, 140, true),
                               Sequences::self(3, 5, false)}) {
      MultiHead part = make({}, rotary);
      const DrawnWeights drawn(part);
      const Tensor x = random_tensor({s.batch * s.queries, width}, 1);
      const NaiveDense dense{s, heads, head_width, 1 / std::sqrt(double(head_width))};
      const Weights w = drawn.weights();
      const Grid expected =
          naive_linear(w, "output", naive_heads(w, "projection", Grid(x), dense, rotary));
      tests::expect_close(part.forward(Pass(), Var(x), s).value().read(), expected.numbers,
                          tolerance);
      const Tensor r = random_tensor(x.shape(), 2);
      tests::expect_close(part.onto(Pass(), Var(r), Var(x), s).value().read(),
                          naive_sum(Grid(r), expected).numbers, tolerance);
    }
}

TEST(MultiHead, puts_head_groups_side_by_side) {
  for (const bool rotary : {false, true}) {
    MultiHead part = make(two_groups(), rotary);
    const DrawnWeights drawn(part);
    const Weights w = drawn.weights();
    const Sequences s = Sequences::self(2, 9, true);
    const Tensor x = random_tensor({18, width}, 1);
    const Grid three = naive_heads(w, "projection0", Grid(x), {s, 3, head_width, 0.2}, rotary);
    const Grid one = naive_heads(w, "projection1", Grid(x), {s, 1, head_width, 0.7}, rotary);
    Grid all(18, heads * head_width);
    for (Index r = 0; r < 18; ++r)
      for (Index c = 0; c < all.cols; ++c)
        all.at(r, c) = c < three.cols ? three.at(r, c) : one.at(r, c - three.cols);
    tests::expect_close(part.forward(Pass(), Var(x), s).value().read(),
                        naive_linear(w, "output", all).numbers, tolerance);
  }
}

TEST(MultiHead, passes_gradients) {
  for (const Settings& settings : {Settings{}, two_groups()})
    for (const bool rotary : {false, true}) {
      MultiHead part = make(settings, rotary);
      DrawnWeights drawn(part);
      const Sequences s = Sequences::self(2, 9, true);
      const std::vector<Tensor> inputs{random_tensor({18, width}, 1),
                                       random_tensor({18, width}, 2)};
      tests::check_gradient(
          "multi_head",
          [&](const Pass& pass, const std::vector<Var>& in) {
            return part.onto(pass, in[0], part.forward(pass, in[1], s), s);
          },
          inputs, drawn.arena());
    }
}

TEST(MultiHead, decodes_what_it_computes_at_once) {
  for (const Settings& settings : {Settings{}, two_groups()})
    for (const bool rotary : {false, true}) {
      MultiHead part = make(settings, rotary);
      const DrawnWeights drawn(part);
      const Tensor x = random_tensor({30, width}, 1);
      const Tensor whole = part.forward(Pass(), Var(x), Sequences::self(1, 30, true)).value();
      MultiHeadState state = part.begin();
      for (Index t = 0; t < 30; ++t)
        tests::expect_close(part.step({{&state, t}}, x.rows(t, 1)).read(),
                            tests::in_double(whole.rows(t, 1).read()), tolerance);
    }
}

TEST(MultiHead, counts_its_weights_and_the_cost_of_its_groups) {
  const Sequences s = Sequences::self(2, 30, true);
  const Index columns = heads * head_width;
  for (const Settings& settings : {Settings{}, two_groups()}) {
    const MultiHead part = make(settings);
    EXPECT_EQ(part.weights(), 4 * width * columns);
    EXPECT_EQ(part.cost(s).scored_pairs, 2 * heads * 30 * 31 / 2);
  }
}

TEST(MultiHead, names_its_parameters) {
  const auto names = [](MultiHead part) {
    autograd::Inventory inventory;
    part.visit(inventory);
    std::vector<std::string> all;
    for (const auto& named : inventory.parameters()) all.push_back(named.name);
    return all;
  };
  EXPECT_EQ(names(make({})), (std::vector<std::string>{"projection.weight", "projection.bias",
                                                       "output.weight", "output.bias"}));
  EXPECT_EQ(
      names(make(two_groups())),
      (std::vector<std::string>{"projection0.weight", "projection0.bias", "projection1.weight",
                                "projection1.bias", "output.weight", "output.bias"}));
}

}  // namespace
}  // namespace weft::layers::multi_head_contract_test
