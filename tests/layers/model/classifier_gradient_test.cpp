#include "core/error.h"
#include "layers/model/classifier.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::classifier_gradient_test {
namespace {

TEST(ClassifierGradient, agrees_with_differences_for_every_pool_and_head) {
  for (const Pool pool : {Pool::cls, Pool::mean})
    for (const ClassHeadKind head : {ClassHeadKind::mlp, ClassHeadKind::linear})
      for (const bool pads : {false, true}) {
        SCOPED_TRACE(core::message_of(pool == Pool::cls ? "cls" : "mean",
                                      head == ClassHeadKind::mlp ? ", mlp" : ", linear",
                                      pads ? ", padded" : ""));
        ModelSettings settings = small_settings();
        settings.task = Task::classify;
        settings.pool = pool;
        settings.head = head;
        settings.causal = false;
        Classifier model(settings, default_plans(settings, settings.places(9)), {11, 9, 4});
        DrawnWeights<Classifier> drawn(model);
        Reading reading{tests::random_tokens({3, 9}, 11, 1), core::Tokens({3, 1}, {2, -1, 3})};
        if (pads) reading.lengths = std::make_shared<const std::vector<Index>>(3, 5);
        tests::check_gradient(
            "loss",
            [&](const Pass& pass, const std::vector<Var>&) {
              return model.loss(pass, reading, Real(0.7));
            },
            {}, drawn.arena());
      }
}

}  // namespace
}  // namespace weft::layers::classifier_gradient_test
