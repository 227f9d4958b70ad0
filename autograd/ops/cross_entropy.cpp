#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/arrays/bf16.h"
#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

/// Rows of logits that exist at one time unless given; at 256 symbols they stay in the second-level
/// cache.
Index rows_at_once(Index vocabulary) { return std::clamp<Index>((1 << 20) / vocabulary, 64, 4096); }

/// Turns one row of logits into `weight` (softmax - onehot) and returns weight * -ln softmax.
double row_loss(Real* logits, Index vocabulary, core::Token target, Real weight) {
  if (target == core::no_target) {
    std::fill_n(logits, vocabulary, Real(0));
    return 0;
  }
  const Real top = core::simd().max(logits, vocabulary), chosen = logits[target];
  const Real total = core::simd().exp_sum(logits, 1, top, vocabulary);
  core::simd().scale(weight / total, logits, vocabulary);
  logits[target] -= weight;
  return double(weight) * (double(top) - double(chosen) + std::log(double(total)));
}

/// A matrix as a factor of several products: itself, or a rounded copy.
struct AsFactor {
  AsFactor(const core::ConstMatrix& m, bool rounds)
      : rounded(rounds ? core::Bf16Array::of(m) : core::Bf16Array()),
        operand(rounds ? core::Operand(rounded.view()) : core::Operand(m)) {}
  core::Bf16Array rounded;
  core::Operand operand;
};

/// One run over the tokens in pieces: logits, loss and, when asked for, the gradients of h, weight
/// and bias for an upstream gradient of 1.
struct Pieces {
  const Tensor& h;
  const Tensor& weight;
  const Parameter* bias;
  std::span<const core::Token> targets;
  Real token_weight;
  Index at_once;
  core::Bf16Matrix rounded = {};  ///< the weight, where products are in bf16

  double run(Tensor* dh, Tensor* dweight, Tensor* dbias) const {
    const Index n = weight.shape()[1], vocabulary = weight.shape()[0], rows = h.shape().rows();
    const Index most = std::min(rows, at_once);
    const core::Operand w = rounded.data
                                ? core::Operand(rounded)
                                : core::Operand(core::ConstMatrix{weight.data(), vocabulary, n, n});
    double loss = 0;
    for (Index begin = 0; begin < rows; begin += most) {
      const Index count = std::min(most, rows - begin);
      const AsFactor x({h.data() + begin * n, count, n, n}, rounded.data);
      Tensor logits({count, vocabulary});
      const core::Matrix z{logits.write().data(), count, vocabulary, vocabulary};
      core::parallel_gemm(1, x.operand, core::transposed(w), 0, z);
      loss += losses(z, begin);
      if (!dh) continue;
      const AsFactor dz(z, rounded.data);
      core::parallel_gemm(1, dz.operand, w, 0, {dh->write().data() + begin * n, count, n, n});
      core::parallel_gemm(1, core::transposed(dz.operand), x.operand, 1,
                          {dweight->write().data(), vocabulary, n, n});
      if (bias) add_row_sums(logits, dbias->write());
    }
    return loss;
  }

  /// Logits become their gradients; the rows' losses are added in order.
  double losses(const core::Matrix& z, Index begin) const {
    std::vector<double> row(std::size_t(z.rows), 0.0);
    core::parallel_for(z.rows, core::rows_per_piece(z.cols), [&](Index first, Index last) {
      for (Index r = first; r < last; ++r) {
        Real* logits = z.data + r * z.stride;
        if (bias) core::simd().add(logits, bias->data(), logits, z.cols);
        row[std::size_t(r)] =
            row_loss(logits, z.cols, targets[std::size_t(begin + r)], token_weight);
      }
    });
    double total = 0;
    for (const double value : row) total += value;
    return total;
  }
};

void add_scaled(Real factor, const Tensor& x, std::span<Real> to) {
  if (to.empty()) return;
  core::parallel_for(x.size(), core::elementwise_grain, [&](Index begin, Index end) {
    core::simd().axpy(factor, x.data() + begin, to.data() + begin, end - begin);
  });
}

/// Throws unless the targets are rows of the table, one for each row of h; what the share is
/// divided by. Where that is 0, as of a part of a batch, none need be counted.
Index count_targets(const Tensor& h, const Tensor& weight, const core::Tokens& targets, Real share,
                    Index rows) {
  core::require(rows >= 0, "cross_entropy: pieces of ", rows, " rows");
  core::require(h.shape().rank() == 2 && weight.shape().rank() == 2 &&
                    h.shape()[1] == weight.shape()[1] && targets.size() == h.shape()[0],
                "cross_entropy: h ", h.shape(), ", weight ", weight.shape(), ", targets ",
                targets.shape());
  Index counted = 0;
  for (const core::Token t : targets.read()) {
    core::require(t == core::no_target || (t >= 0 && t < weight.shape()[0]),
                  "cross_entropy: target ", t, " is outside the vocabulary of ", weight.shape()[0]);
    counted += t != core::no_target;
  }
  core::require(counted > 0 || share == 0, "cross_entropy: no target is counted");
  return std::max<Index>(1, counted);
}

Pieces pieces_of(const Tensor& h, const Tensor& weight, const Parameter* bias,
                 const core::Tokens& targets, Real share, Index rows) {
  const Index counted = count_targets(h, weight, targets, share, rows);
  return {h,
          weight,
          bias,
          targets.read(),
          share / Real(counted),
          rows > 0 ? rows : rows_at_once(weight.shape()[0])};
}

}  // namespace

/// loss = share / N * sum over counted targets of -ln softmax(h weight^T + bias)[target].
/// dlogits = share / N (softmax - onehot), piece by piece while the logits are at hand, so neither
/// logits nor probabilities outlive their piece.
/// Saves: dh, dweight and dbias for an upstream gradient of 1.
Var cross_entropy(const Var& h, const Parameter& weight, const Parameter* bias,
                  const core::Tokens& targets, Real share, Index rows) {
  core::require(!bias || bias->shape() == Shape{weight.shape()[0]}, "cross_entropy: bias of shape ",
                bias ? bias->shape() : Shape{}, " for a weight of shape ", weight.shape());
  Pieces pieces = pieces_of(h.value(), weight.value(), bias, targets, share, rows);
  pieces.rounded = weight.rounded();
  if (!h.tape()) return Var(Tensor({1}, Real(pieces.run(nullptr, nullptr, nullptr))));

  Tensor dh(h.shape()), dweight(weight.shape(), 0), dbias({weight.shape()[0]}, 0);
  const double loss = pieces.run(&dh, &dweight, &dbias);
  return record("cross_entropy", Tensor({1}, Real(loss)), {h},
                [dh, dweight, dbias, &weight, bias](Tensor dy) mutable {
                  const Real factor = core::scalar(dy);
                  add_scaled(factor, dweight, weight.gradient());
                  if (bias) add_scaled(factor, dbias, bias->gradient());
                  if (factor != 1) core::simd().scale(factor, dh.write().data(), dh.size());
                  return Gradients{std::move(dh)};
                });
}

/// The same loss; the table's gradient goes on to what made it.
/// Saves: dh and dtable for an upstream gradient of 1.
Var table_cross_entropy(const Var& h, const Var& table, const core::Tokens& targets, Real share,
                        Index rows) {
  const Pieces pieces = pieces_of(h.value(), table.value(), nullptr, targets, share, rows);
  if (!h.tape() && !table.tape())
    return Var(Tensor({1}, Real(pieces.run(nullptr, nullptr, nullptr))));

  Tensor dh(h.shape()), dtable(table.shape(), 0);
  const double loss = pieces.run(&dh, &dtable, nullptr);
  return record("table_cross_entropy", Tensor({1}, Real(loss)), {h, table},
                [dh, dtable](Tensor dy) mutable {
                  const Real factor = core::scalar(dy);
                  for (Tensor* d : {&dh, &dtable})
                    if (factor != 1) core::simd().scale(factor, d->write().data(), d->size());
                  return Gradients{std::move(dh), std::move(dtable)};
                });
}

}  // namespace weft::autograd
