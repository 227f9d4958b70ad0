#include "layers/model/span_model.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::span_model_gradient_test {
namespace {

TEST(SpanModelGradient, agrees_with_differences_plain_and_reversible) {
  for (const bool reversible : {false, true}) {
    ModelSettings settings = small_settings();
    settings.task = Task::span;
    settings.causal = false;
    settings.reversible = reversible;
    if (reversible) settings.reversible_output = autograd::StreamOutput::concat;
    SpanModel model(settings, default_plans(settings, 9), {11, 9});
    DrawnWeights<SpanModel> drawn(model);
    Reading reading{tests::random_tokens({3, 9}, 11, 1),
                    core::Tokens({3, 2, 2}, {3, 5, 4, 4, 0, 0, -1, -1, -1, -1, -1, -1})};
    reading.documents = core::Tokens({3, 2}, {3, 8, 2, 6, 1, 1});
    reading.lengths = std::make_shared<const std::vector<Index>>(std::vector<Index>{9, 7, 2});
    tests::check_gradient(
        "loss",
        [&](const Pass& pass, const std::vector<Var>&) {
          return model.loss(pass, reading, Real(0.7));
        },
        {}, drawn.arena());
  }
}

TEST(SpanModelGradient, agrees_with_differences_where_questions_are_global) {
  ModelSettings settings = small_settings();
  settings.task = Task::span;
  settings.causal = false;
  settings.attention = {"etc"};
  tests::GivenFields given({{"window", Index(3)}, {"every", Index(3)}, {"question_global", true}});
  AttentionPlans plans;
  plans["etc"] = read_attention(given, "etc", settings.site(9));
  SpanModel model(settings, plans, {11, 9});
  DrawnWeights<SpanModel> drawn(model);
  Reading reading{core::Tokens({3, 9}, {1, 7, 2, 3, 9, 2, 8, 3, 10,  //
                                        1, 2, 5, 4, 8, 6, 3, 0, 0,   //
                                        1, 5, 0, 0, 0, 0, 0, 0, 0}),
                  core::Tokens({3, 1, 2}, {3, 5, 0, 0, -1, -1})};
  reading.documents = core::Tokens({3, 2}, {3, 8, 2, 6, 1, 1});
  reading.lengths = std::make_shared<const std::vector<Index>>(std::vector<Index>{9, 7, 2});
  tests::check_gradient(
      "loss",
      [&](const Pass& pass, const std::vector<Var>&) { return model.loss(pass, reading, 1); }, {},
      drawn.arena());
}

}  // namespace
}  // namespace weft::layers::span_model_gradient_test
