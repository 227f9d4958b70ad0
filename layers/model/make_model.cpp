#include "layers/model/make_model.h"

#include "layers/model/classifier.h"
#include "layers/model/encoder_decoder.h"
#include "layers/model/language_model.h"
#include "layers/model/span_model.h"
#include "layers/model/terraformer.h"

namespace weft::layers {

std::unique_ptr<Model> make_model(const ModelSettings& settings, const AttentionPlans& plans,
                                  const ModelShape& shape, Recomputation recompute) {
  if (settings.task == Task::seq2seq) {
    if (settings.reversible) return std::make_unique<Terraformer>(settings, plans, shape);
    return std::make_unique<EncoderDecoder>(settings, plans, shape);
  }
  if (settings.task == Task::classify)
    return std::make_unique<Classifier>(settings, plans, shape, recompute);
  if (settings.task == Task::span)
    return std::make_unique<SpanModel>(settings, plans, shape, recompute);
  return std::make_unique<LanguageModel>(settings, plans, shape.vocabulary, shape.length, recompute,
                                         shape.image);
}

}  // namespace weft::layers
