#include "layers/model/span_model.h"

#include <algorithm>

#include "core/error.h"
#include "core/scope.h"
#include "layers/model/model_parts.h"

namespace weft::layers {

SpanModel::SpanModel(const ModelSettings& settings, const AttentionPlans& plans,
                     const ModelShape& shape, Recomputation recompute)
    : length_(shape.length),
      longest_(settings.answer_longest),
      trunk_(settings, plans, shape.vocabulary, shape.length, recompute),
      head_(trunk_.width(), Init::normal(initial_deviation)) {}

Var SpanModel::hidden(const Pass& pass, const Reading& reading, std::vector<float>* steps) const {
  core::require(reading.inputs.shape().rank() == 2 &&
                    reading.documents.shape() == core::Shape{reading.inputs.shape()[0], 2},
                "span model: inputs of shape ", reading.inputs.shape(), " and documents of shape ",
                reading.documents.shape(), ", expected [batch, length] and [batch, 2]");
  return trunk_.hidden(pass, reading.inputs, reading.lengths, nullptr, steps);
}

Index SpanModel::counted(const core::Batch& batch) const {
  const Index each = batch.targets.size() / batch.targets.shape()[0];
  const auto listed = [&](Index sequence) {
    const auto own = batch.targets.read().subspan(std::size_t(sequence * each), std::size_t(each));
    return std::ranges::any_of(own, [](core::Token t) { return t != core::no_target; });
  };
  Index sequences = 0;
  for (Index b = 0; b < batch.targets.shape()[0]; ++b) sequences += listed(b);
  return sequences;
}

Var SpanModel::loss(const Pass& pass, const Reading& reading, Real share) const {
  const Var h = hidden(pass, reading);
  const core::Scope scope("head");
  const Var loss = head_.loss(h, reading.documents, reading.targets, target_share(reading, share));
  return trunk_.with_penalties(pass, loss, penalty_share(reading, share));
}

std::vector<SpanChoice> SpanModel::choose(const Pass& pass, const Reading& reading) const {
  std::vector<float> steps;
  const Var h = hidden(pass, reading, &steps);
  auto choices = head_.choose(h.value(), reading.documents, reading.targets, longest_);
  const std::vector<float> means = mean_steps(steps, reading.inputs.shape()[0]);
  for (std::size_t b = 0; b < means.size(); ++b) choices[b].steps = means[b];
  return choices;
}

TokenScores SpanModel::score(const Pass& pass, const Reading& reading) const {
  TokenScores scores;
  for (const SpanChoice& choice : choose(pass, reading)) {
    const Index row = Index(scores.nats.size());
    scores.correct.push_back(choice.is_none()
                                 ? lists_answer(reading.targets, row, 0, 0)
                                 : lists_answer(reading.targets, row, choice.start, choice.end));
    scores.nats.push_back(choice.nats);
    if (choice.steps > 0) scores.steps.push_back(choice.steps);
  }
  return scores;
}

Cost SpanModel::attention_cost(Index batch) const {
  return trunk_.attention_cost(Sequences::self(batch, length_, trunk_.causal()));
}

void SpanModel::visit(Inventory& inventory) {
  trunk_.visit(inventory);
  inventory.enter("head", head_);
}

}  // namespace weft::layers
