#include "tests/gradient_check.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::star_model_gradient_test {
namespace {

TEST(StarModelGradient, fills_in_tokens_with_a_gradient_that_agrees_with_differences) {
  ModelSettings settings = small_settings();
  settings.trunk = TrunkKind::star;
  settings.causal = false;
  for (const bool recompute : {false, true}) {
    SampleModel it(settings, 7, recompute);
    tests::check_gradient(
        "loss",
        [&](const Pass& pass, const std::vector<Var>&) {
          return it.model.loss(pass, {it.tokens(2, 1), it.targets(2)}, 1);
        },
        {}, it.drawn.arena());
  }
}

}  // namespace
}  // namespace weft::layers::star_model_gradient_test
