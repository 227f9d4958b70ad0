// Gradients of tokens among the rows of a mechanism that has more of them.
#include "layers/attention/global_local/rows.h"
#include "layers/model/row_spread.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::row_spread_gradient_test {
namespace {

TEST(RowSpreadGradient, passes_gradients_to_tokens_and_to_what_global_tokens_begin_with) {
  RowSpread rows(std::make_shared<GlobalRows>(GlobalTokens{.every = 2}), 3);
  DrawnWeights drawn(rows);
  const Sequences over =
      rows.over(core::Tokens({2, 3}, {1, 2, 3, 4, 5, 6}),
                std::make_shared<const std::vector<Index>>(std::vector<Index>{3, 1}), false);
  tests::check_gradient(
      "row_spread",
      [&](const Pass& pass, const std::vector<Var>& in) { return rows.spread(pass, in[0], over); },
      {tests::random_tensor({6, 3}, 1)}, drawn.arena());
}

TEST(RowSpreadGradient, sentences_follow_the_tokens_of_the_model) {
  ModelSettings settings = small_settings();
  settings.attention = {"etc"};
  settings.causal = false;
  AttentionPlans plans;
  tests::GivenFields given({{"by", "token"}, {"separator", Index(3)}, {"window", Index(3)}});
  plans["etc"] = read_attention(given, "etc", settings.site(40));
  SampleModel it(settings, plans, 40, false);
  const core::Tokens inputs = it.tokens(2, 1);
  tests::check_gradient(
      "loss",
      [&](const Pass& pass, const std::vector<Var>&) {
        return it.model.loss(pass, {inputs, it.targets(2)}, 1);
      },
      {}, it.drawn.arena());
}

}  // namespace
}  // namespace weft::layers::row_spread_gradient_test
