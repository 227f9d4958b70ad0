#include "layers/parts/norm.h"

namespace weft::layers {
namespace {

/// The share of each step in the running averages.
constexpr Real momentum = Real(0.1);

Tensor standard_moments(Index width) {
  Tensor moments({2, width}, 0);
  for (Index c = 0; c < width; ++c) moments.write()[std::size_t(width + c)] = 1;
  return moments;
}

/// Sums that micro-batches may add up: of x - m, of (x - m)^2, and the number of rows, with m the
/// running mean, which is constant within a step and keeps the squares from cancelling.
/// -> [2 W + 1]
Tensor statistics_of(const Tensor& moments, const Tensor& running, Index rows) {
  const Index width = moments.shape().back();
  Tensor sums({2 * width + 1});
  const std::span<Real> out = sums.write();
  for (Index c = 0; c < width; ++c) {
    const Real shift = moments.data()[c] - running.data()[c];
    out[std::size_t(c)] = Real(rows) * shift;
    out[std::size_t(width + c)] = Real(rows) * (moments.data()[width + c] + shift * shift);
  }
  out.back() = Real(rows);
  return sums;
}

/// Moves both moments towards those of the step's rows. The variance is the unbiased one; a single
/// row has none.
void absorb(std::span<Real> running, std::span<const Real> sums) {
  const std::size_t width = running.size() / 2;
  const Real rows = sums.back();
  for (std::size_t c = 0; c < width; ++c) {
    const Real shift = sums[c] / rows;
    running[c] += momentum * shift;
    if (rows < 2) continue;
    const Real variance = (sums[width + c] - rows * shift * shift) / (rows - 1);
    running[width + c] += momentum * (variance - running[width + c]);
  }
}

}  // namespace

Norm::Norm(Index width, NormKind kind, double eps)
    : kind_(kind), eps_(Real(eps)), gain_({width}, Init::ones()) {
  if (kind != NormKind::rms) bias_.emplace(core::Shape{width}, Init::zeros());
  if (kind == NormKind::batch) running_.emplace(standard_moments(width), absorb);
}

Var Norm::forward(const Pass& pass, const Var& x) const {
  switch (kind_) {
    case NormKind::layer:
      return autograd::layer_norm(x, gain_, *bias_, eps_);
    case NormKind::rms:
      return autograd::rms_norm(x, gain_, eps_);
    case NormKind::batch:
      break;
  }
  return over_the_batch(pass, x);
}

Var Norm::over_the_batch(const Pass& pass, const Var& x) const {
  if (!pass.training()) return autograd::frozen_norm(x, gain_, *bias_, eps_, running_->value());
  const Tensor moments = autograd::column_moments(x.value());
  pass.propose(*running_, statistics_of(moments, running_->value(), x.shape().rows()));
  return autograd::batch_norm(x, gain_, *bias_, eps_, moments);
}

void Norm::visit(Inventory& inventory) {
  inventory.add("weight", gain_);
  if (bias_) inventory.add("bias", *bias_);
  if (running_) inventory.add("running", *running_);
}

}  // namespace weft::layers
