#include "layers/model/language_model.h"

#include <algorithm>

#include "autograd/rows_alone.h"
#include "core/error.h"
#include "core/scope.h"
#include "layers/model/model_parts.h"

namespace weft::layers {

LanguageModel::LanguageModel(const ModelSettings& settings, const AttentionPlans& plans,
                             Index vocabulary, Index length, Recomputation recompute,
                             const std::optional<core::ImageForm>& image)
    : trunk_(settings, plans, vocabulary, length, recompute, image),
      output_(make_output(settings, vocabulary, trunk_.width())),
      length_(length),
      loss_chunk_(settings.loss_chunk) {
  core::require(!settings.tie || trunk_.width() == settings.width,
                "model: concatenated streams need an output layer of their own, tie = false");
}

Var LanguageModel::hidden_of(const Pass& pass, const Reading& reading,
                             std::vector<float>* steps) const {
  return trunk_.hidden(pass, reading.inputs, reading.lengths, reading.memory, steps, reading.chunk);
}

Var LanguageModel::loss(const Pass& pass, const Reading& reading, Real share) const {
  const Var h = hidden_of(pass, reading);
  const core::Scope scope("output");
  const Var loss = output_.loss(pass, h, trunk_.tokens(), reading.targets,
                                target_share(reading, share), loss_chunk_);
  return trunk_.with_penalties(pass, loss, penalty_share(reading, share));
}

TokenScores LanguageModel::score(const Pass& pass, const Reading& reading) const {
  std::vector<float> steps;
  const Var h = hidden_of(pass, reading, &steps);
  TokenScores scores = output_.score(h.value(), trunk_.tokens(), reading.targets);
  scores.steps = std::move(steps);
  return scores;
}

Tensor LanguageModel::step(BranchStates& states, core::Token token) const {
  return step(NextTokens{{&states, token}}).reshaped({vocabulary()});
}

Tensor LanguageModel::step(const NextTokens& tokens) const {
  const Tensor h = trunk_.step(tokens);
  const autograd::RowsAlone alone;
  return logits(h);
}

Tensor LanguageModel::read(BranchStates& states, std::span<const core::Token> prompt) const {
  constexpr std::size_t at_once = 128;
  core::require(!prompt.empty(), "language model: the prompt is empty; give at least one token");
  Tensor h;
  for (std::size_t first = 0; first < prompt.size(); first += at_once) {
    NextTokens tokens;
    for (const core::Token token : prompt.subspan(first, std::min(at_once, prompt.size() - first)))
      tokens.push_back({&states, token});
    h = trunk_.step(tokens);
  }
  return logits(h.rows(h.shape()[0] - 1, 1)).reshaped({vocabulary()});
}

Cost LanguageModel::attention_cost(Index batch) const {
  return trunk_.attention_cost(Sequences::self(batch, length_, trunk_.causal()));
}

Index LanguageModel::matrix_weights() const {
  return output_.weights(trunk_.tokens()) + layer_weights();
}

double LanguageModel::rows_per_token() const {
  const double others = double(matrix_weights() - layer_weights());
  return (trunk_.weight_rows(length_) + others) / double(matrix_weights());
}

void LanguageModel::visit(Inventory& inventory) {
  trunk_.visit(inventory);
  inventory.enter("output", output_);
}

const LanguageModel& as_language_model(const Model& model, const char* what) {
  const auto* language = dynamic_cast<const LanguageModel*>(&model);
  core::require(language != nullptr, what,
                ": this needs a model that predicts tokens, model.task = \"language\"");
  return *language;
}

}  // namespace weft::layers
