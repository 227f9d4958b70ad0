#include "tests/gradient_check.h"
#include "tests/layers/model/universal_forms.h"

namespace weft::layers::universal_model_gradient_test {
namespace {

using namespace universal_forms;

TEST(UniversalModelGradient, agrees_with_differences_in_every_form) {
  for (const Form& form : forms())
    for (const bool recompute : {false, true}) {
      if (recompute && form.settings.reversible) continue;
      SCOPED_TRACE(form.name + (recompute ? ", recomputed" : ""));
      SampleModel it(form.settings, 6, recompute);
      tests::check_gradient(
          "loss",
          [&](const Pass& pass, const std::vector<Var>&) {
            return it.model.loss(pass, {it.tokens(2, 1), it.targets(2)}, 1);
          },
          {}, it.drawn.arena());
    }
}

}  // namespace
}  // namespace weft::layers::universal_model_gradient_test
