#include "layers/model/classifier.h"

#include <algorithm>

#include "core/error.h"
#include "core/scope.h"
#include "layers/model/model_parts.h"

namespace weft::layers {
namespace {

/// The inputs with `token` before every row.  [B, T] -> [B, T + 1]
core::Tokens behind(core::Token token, const core::Tokens& inputs) {
  const Index batch = inputs.shape()[0], length = inputs.shape()[1];
  std::vector<core::Token> ids(std::size_t(batch * (length + 1)), token);
  for (Index b = 0; b < batch; ++b)
    std::ranges::copy(inputs.read().subspan(std::size_t(b * length), std::size_t(length)),
                      ids.begin() + b * (length + 1) + 1);
  return {{batch, length + 1}, std::move(ids)};
}

core::Lengths one_more(const core::Lengths& lengths) {
  if (!lengths) return nullptr;
  std::vector<Index> longer = *lengths;
  for (Index& length : longer) ++length;
  return std::make_shared<const std::vector<Index>>(std::move(longer));
}

}  // namespace

Classifier::Classifier(const ModelSettings& settings, const AttentionPlans& plans,
                       const ModelShape& shape, Recomputation recompute)
    : pool_(settings.pool),
      cls_token_(core::Token(shape.vocabulary)),
      length_(settings.places(shape.length)),
      trunk_(settings, plans, shape.vocabulary + (pool_ == Pool::cls ? 1 : 0), length_, recompute,
             shape.image),
      head_(trunk_.width(), settings.head == ClassHeadKind::mlp ? settings.hidden() : 0,
            shape.classes, Init::normal(initial_deviation)) {
  core::require(shape.classes >= 2,
                "model.task = \"classify\" needs data with at least 2 classes, ", "got ",
                shape.classes);
  core::require(!settings.reads_root() || trunk_.has_root(),
                "model.pool: no row of these layers represents the whole sequence; take cls or "
                "mean, model.trunk = \"star\", or attention with a root");
}

Var Classifier::behind_cls(const Pass& pass, const Reading& reading,
                           std::vector<float>* steps) const {
  const Var h = trunk_.hidden(pass, behind(cls_token_, reading.inputs), one_more(reading.lengths),
                              nullptr, steps);
  return autograd::mean_rows(h, std::vector<Index>(std::size_t(reading.inputs.shape()[0]), 1));
}

Var Classifier::pooled(const Pass& pass, const Reading& reading, std::vector<float>* steps) const {
  core::require(reading.inputs.shape().rank() == 2, "classifier: inputs of shape ",
                reading.inputs.shape(), ", expected [batch, length]");
  const Index batch = reading.inputs.shape()[0], length = reading.inputs.shape()[1];
  if (pool_ == Pool::cls) return behind_cls(pass, reading, steps);
  const std::vector<Index> real =
      reading.lengths ? *reading.lengths : std::vector<Index>(std::size_t(batch), length);
  if (pool_ == Pool::mean)
    return autograd::mean_rows(trunk_.hidden(pass, reading.inputs, reading.lengths, nullptr, steps),
                               real);
  const auto [tokens, root] = trunk_.encode(pass, reading.inputs, reading.lengths);
  if (pool_ == Pool::root) return root;
  return autograd::scale(autograd::add(autograd::max_rows(tokens, real), root), Real(0.5));
}

Var Classifier::loss(const Pass& pass, const Reading& reading, Real share) const {
  const Var x = pooled(pass, reading);
  const core::Scope scope("head");
  return trunk_.with_penalties(pass, head_.loss(x, reading.targets, target_share(reading, share)),
                               penalty_share(reading, share));
}

TokenScores Classifier::score(const Pass& pass, const Reading& reading) const {
  std::vector<float> steps;
  const Var x = pooled(pass, reading, &steps);
  TokenScores scores = head_.score(x.value(), reading.targets);
  scores.steps = mean_steps(steps, reading.inputs.shape()[0]);
  return scores;
}

Cost Classifier::attention_cost(Index batch) const {
  return trunk_.attention_cost(Sequences::self(batch, length_, trunk_.causal()));
}

double Classifier::rows_per_token() const {
  const double others = double(matrix_weights() - layer_weights());
  const bool roots = pool_ == Pool::root || pool_ == Pool::max_root;
  return (trunk_.weight_rows(length_, roots) + others) / double(matrix_weights());
}

void Classifier::visit(Inventory& inventory) {
  trunk_.visit(inventory);
  inventory.enter("head", head_);
}

}  // namespace weft::layers
