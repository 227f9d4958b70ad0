#include "layers/model.h"

#include "layers/classifier.h"
#include "layers/language_model.h"

namespace weft::layers {

std::unique_ptr<Model> make_model(const ModelSettings& settings, const AttentionPlans& plans,
                                  const ModelShape& shape, bool recompute) {
  if (settings.task == "classify")
    return std::make_unique<Classifier>(settings, plans, shape, recompute);
  return std::make_unique<LanguageModel>(settings, plans, shape.vocabulary, shape.length,
                                         recompute);
}

}  // namespace weft::layers
