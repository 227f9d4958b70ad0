#include "core/error.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/rooted_classifier.h"

namespace weft::layers::root_pool_gradient_test {
namespace {

using namespace roots;

TEST(RootPoolGradient, agrees_with_differences) {
  for (const Pool pool : {Pool::root, Pool::max_root})
    for (const bool star : {true, false}) {
      SCOPED_TRACE(core::message_of(int(pool), star));
      const ModelSettings settings = classifying(pool, star);
      Classifier model(settings, star ? AttentionPlans{} : default_plans(settings, length),
                       {vocabulary, length, classes});
      DrawnWeights<Classifier> drawn(model);
      const Reading reading = padded_reading();
      tests::check_gradient(
          "loss",
          [&](const Pass& pass, const std::vector<Var>&) {
            return model.loss(pass, reading, Real(0.7));
          },
          {}, drawn.arena());
    }
}

}  // namespace
}  // namespace weft::layers::root_pool_gradient_test
