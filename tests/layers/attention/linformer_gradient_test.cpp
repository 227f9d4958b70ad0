#include "layers/attention/length_projection.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers {
namespace {

TEST(LengthProjectionGradient, agrees_with_differences) {
  for (const bool by_head : {false, true})
    for (const bool one_table : {false, true}) {
      const core::Shape shape = by_head ? core::Shape{2, 5, 12} : core::Shape{5, 12};
      autograd::Parameter e(shape, autograd::Init::zeros()), f(shape, autograd::Init::zeros());
      std::vector<autograd::Parameter*> parameters{&e};
      if (!one_table) parameters.push_back(&f);
      Sequences s = Sequences::self(3, 9, false);
      s.key_lengths = std::make_shared<const std::vector<Index>>(std::vector<Index>{9, 0, 4});
      tests::check_gradient(
          "length_projection",
          [&](const Pass&, const std::vector<Var>& in) {
            return project_length({{in[0], 8}, {in[0], 0}}, e, one_table ? e : f, s, 6);
          },
          {tests::random_tensor({27, 14}, 1)}, parameters);
    }
}

// Layers that share one projection add their gradients up in it.
TEST(LinformerGradient, agrees_with_differences_in_a_model_for_every_sharing) {
  for (const std::string mode : {"none", "headwise", "key_value", "layerwise"}) {
    SCOPED_TRACE(mode);
    ModelSettings settings = small_settings();
    settings.attention = {"linformer"};
    settings.causal = false;
    tests::GivenFields fields({{"sharing", mode}, {"slots", Index(4)}});
    const AttentionPlans plans{
        {"linformer", read_attention(fields, "linformer", settings.site(9))}};
    LanguageModel model(settings, plans, 11, 9);
    DrawnWeights<LanguageModel> drawn(model);
    const core::Tokens tokens = tests::random_tokens({2, 9}, 11, 1);
    tests::check_gradient(
        "loss",
        [&](const Pass& pass, const std::vector<Var>&) {
          return model.loss(pass, {tokens, tokens}, 1);
        },
        {}, drawn.arena());
  }
}

}  // namespace
}  // namespace weft::layers
