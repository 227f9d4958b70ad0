#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/tasks/classification.h"
#include "experiments/predict/predictor.h"
#include "layers/model/classifier.h"

namespace weft::experiments {
namespace {

/// The class of a text, and the probability of each class.
class ClassPredictor final : public Predictor {
 public:
  ClassPredictor(const TextModel& model, const PredictorOptions& options)
      : Predictor(model, options),
        classifier_(dynamic_cast<const layers::Classifier&>(*model.saved.model)),
        names_(model.form.classes) {}

  std::vector<std::string> columns() const override {
    std::vector<std::string> all = {"class"};
    all.insert(all.end(), names_.begin(), names_.end());
    return all;
  }
  std::string cut_rule() const override {
    return core::message_of("cut at ", length(), " tokens, the data.length of training");
  }

 private:
  Asked read(const Record& record) override {
    Asked asked{model().encode(record.texts[0])};
    const auto size = core::Index(asked.tokens.size());
    core::require(pads() || size >= length(), "the text has ", size,
                  " tokens, and the model reads ", length(), ", no fewer (data.shortest)");
    cut(asked.tokens, length());
    return asked;
  }

  std::vector<Prediction> answer(const std::vector<Asked>& asked) override {
    std::vector<data::Example> examples;
    for (const Asked& one : asked) examples.push_back({one.tokens});
    const data::Batch batch = data::batch_of(examples, options().batch, length(), pads());
    const autograd::Pass pass(core::Rng(0).fold("evaluation"));
    const core::Tensor logits = classifier_.logits(pass, {batch});
    std::vector<Prediction> all;
    for (std::size_t i = 0; i < asked.size(); ++i)
      all.push_back(
          prediction_of(probabilities_of(logits.read().subspan(i * names_.size(), names_.size()))));
    return all;
  }

  Prediction prediction_of(const std::vector<double>& probabilities) const {
    const auto best = std::size_t(std::ranges::max_element(probabilities) - probabilities.begin());
    Prediction prediction{{names_[best]}, {}};
    nlohmann::ordered_json json = {{"class", names_[best]}, {"probabilities", nullptr}};
    for (std::size_t i = 0; i < names_.size(); ++i) {
      prediction.cells.push_back(probability_text(probabilities[i]));
      json["probabilities"][names_[i]] = std::stod(prediction.cells.back());
    }
    prediction.json = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return prediction;
  }

  const layers::Classifier& classifier_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<Predictor> make_class_predictor(const TextModel& model,
                                                const PredictorOptions& options) {
  return std::make_unique<ClassPredictor>(model, options);
}

}  // namespace weft::experiments
