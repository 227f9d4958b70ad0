#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::linformer_gradient_test {
namespace {

TEST(LengthProjectionGradient, agrees_with_differences) {
  for (const std::string sharing : {"none", "headwise", "key_value"}) {
    SCOPED_TRACE(sharing);
    AttentionSample it("linformer", padded(Sequences::self(3, 9, false), {9, 1, 4}), 2, 3,
                       {{"sharing", sharing}, {"slots", Index(5)}});
    tests::check_gradient(
        "length_projection",
        [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
        it.inputs(), it.arena());
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
}  // namespace weft::layers::linformer_gradient_test
