#include "layers/output/output_layer.h"

#include "autograd/rows_alone.h"
#include "core/error.h"

namespace weft::layers {

OutputLayer OutputLayer::untied(Index vocabulary, Index width, Init init) {
  OutputLayer layer;
  layer.own_.emplace(core::Shape{vocabulary, width}, init);
  return layer;
}

OutputLayer OutputLayer::sparse(Index vocabulary, Index width, Index modules) {
  core::require(vocabulary % modules == 0, "model.output_modules: ", vocabulary, " tokens are not ",
                modules, " modules of one size; take a divisor of ", vocabulary);
  OutputLayer layer;
  layer.sparse_.emplace(width, modules, vocabulary / modules);
  return layer;
}

OutputLayer OutputLayer::logistics(Index levels, Index width, Index mixtures, Init init) {
  OutputLayer layer;
  layer.mixture_.emplace(levels, width, mixtures, init);
  return layer;
}

Var OutputLayer::loss(const Pass& pass, const Var& h, const Parameter& tokens,
                      const core::Tokens& targets, Real share, Index chunk) const {
  if (mixture_) return mixture_->loss(h, targets, share);
  if (sparse_) return autograd::table_cross_entropy(h, sparse_->table(pass), targets, share, chunk);
  return autograd::cross_entropy(h, table(tokens), nullptr, targets, share, chunk);
}

TokenScores OutputLayer::score(const Tensor& h, const Parameter& tokens,
                               const core::Tokens& targets) const {
  if (mixture_) return mixture_->score(h, targets);
  return score_tokens(h, sparse_ ? sparse_->table(Pass()).value() : table(tokens).value(), targets);
}

Tensor OutputLayer::logits(const Tensor& h, const Parameter& tokens) const {
  if (mixture_) return mixture_->logits(h, tokens.shape()[0]);
  if (!sparse_) return autograd::linear(Var(h), table(tokens)).value();
  const Index rows = h.shape().rows(), width = h.shape().back(), vocabulary = tokens.shape()[0];
  if (rows > 1 && !autograd::RowsAlone::now()) return sparse_->forward(Pass(), Var(h)).value();
  Tensor y({rows, vocabulary});
  for (Index r = 0; r < rows; ++r)
    sparse_->step(h.data() + r * width, y.write().data() + r * vocabulary);
  return y;
}

Index OutputLayer::weights(const Parameter& tokens) const {
  if (mixture_) return mixture_->weights();
  return sparse_ ? sparse_->weights() : table(tokens).shape().size();
}

void OutputLayer::visit(Inventory& inventory) {
  if (own_) inventory.add("weight", *own_);
  if (sparse_) sparse_->visit(inventory);
  if (mixture_) mixture_->visit(inventory);
}

}  // namespace weft::layers
