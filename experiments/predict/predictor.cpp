#include "experiments/predict/predictor.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/console/number_text.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {

std::vector<Prediction> Predictor::predict(std::span<const Record> records) {
  std::vector<Prediction> all(records.size());
  std::vector<Asked> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < records.size(); ++i) {
    all[i].problem = records[i].problem;
    all[i].empty = all[i].problem.empty() &&
                   std::ranges::any_of(records[i].texts, [](const auto& t) { return t.empty(); });
    if (all[i].empty) all[i].problem = "there is no text";
    if (!all[i].problem.empty()) continue;
    try {
      asked.push_back(read(records[i]));
      places.push_back(i);
    } catch (const core::Error& error) {
      all[i].problem = error.what();
    }
  }
  if (asked.empty()) return all;
  std::vector<Prediction> answered = answer(asked);
  for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = std::move(answered[i]);
  return all;
}

void Predictor::cut(std::vector<core::Token>& tokens, core::Index most) {
  if (core::Index(tokens.size()) <= most) return;
  tokens.resize(std::size_t(most));
  ++cut_;
}

void require_texts(const RunConfig& config) {
  core::require(!config.data.plan.traits.images,
                "predict reads texts, and this model reads images: weft generate completes them, "
                "weft eval classifies those of a data set");
}

std::unique_ptr<Predictor> make_predictor(const TextModel& model, const PredictorOptions& options) {
  switch (model.saved.config.model.task) {
    case layers::Task::classify:
      return make_class_predictor(model, options);
    case layers::Task::span:
      return make_answer_predictor(model, options);
    case layers::Task::seq2seq:
      return make_target_predictor(model, options);
    case layers::Task::language:
      break;
  }
  return model.saved.config.model.causal ? make_text_predictor(model, options)
                                         : make_blank_predictor(model, options);
}

std::vector<double> probabilities_of(std::span<const core::Real> logits) {
  check_logits(logits);
  const double largest = double(*std::ranges::max_element(logits));
  std::vector<double> all;
  double sum = 0;
  for (const core::Real logit : logits) sum += all.emplace_back(std::exp(double(logit) - largest));
  for (double& one : all) one /= sum;
  return all;
}

std::string cell_of(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    const std::size_t which = std::string_view("\t\n\r\\").find(c);
    if (which == std::string_view::npos)
      cell += c;
    else
      cell.append("\\").append(1, "tnr\\"[which]);
  }
  return cell;
}

std::string probability_text(double probability) { return format_fixed(probability, 6); }

}  // namespace weft::experiments
