#include "layers/attention/fittings/gated_norm.h"

#include <cmath>
#include <vector>

#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

using Activation = GatedNormForm::Activation;

/// The activation of n gates, and its slope.
void open_gates(Activation activation, const Real* gate, Real* open, Real* slope, Index n) {
  core::simd().logistic(gate, open, n);
  if (activation == Activation::sigmoid) {
    for (Index i = 0; i < n; ++i) slope[i] = open[i] * (1 - open[i]);
  } else {
    for (Index i = 0; i < n; ++i) slope[i] = open[i] * (1 + gate[i] * (1 - open[i]));
    core::simd().multiply(open, gate, open, n);
  }
}

/// One row of n numbers, with scratch for both directions.
class NormRow {
 public:
  NormRow(const GatedNormForm& form, const Real* gain, Index n)
      : form_(form), gain_(gain), n_(n), scratch_(std::size_t(4 * n)) {
    open_ = scratch_.data();
    slope_ = open_ + n;
    gated_ = slope_ + n;
    normal_ = gated_ + n;
  }

  void apply(const Real* o, const Real* gate, Real* y) {
    Real inverse;
    open(gate);
    if (form_.gate_first) {
      core::simd().multiply(o, open_, gated_, n_);
      core::simd().rms_norm(gated_, gain_, form_.eps, y, &inverse, n_);
    } else {
      core::simd().rms_norm(o, gain_, form_.eps, y, &inverse, n_);
      if (gate) core::simd().multiply(y, open_, y, n_);
    }
  }

  void pull_back(const Real* o, const Real* gate, const Real* dy, Real* d, Real* dgate,
                 Real* dgain) {
    Real inverse;
    open(gate);
    if (form_.gate_first) {
      core::simd().multiply(o, open_, gated_, n_);
      core::simd().rms_norm(gated_, gain_, form_.eps, normal_, &inverse, n_);
      core::simd().rms_norm_gradient(gated_, gain_, dy, inverse, d, dgain, n_);
      for (Index i = 0; i < n_; ++i) dgate[i] = d[i] * o[i] * slope_[i];
      core::simd().multiply(d, open_, d, n_);
      return;
    }
    core::simd().rms_norm(o, gain_, form_.eps, normal_, &inverse, n_);
    if (!gate) return core::simd().rms_norm_gradient(o, gain_, dy, inverse, d, dgain, n_);
    for (Index i = 0; i < n_; ++i) dgate[i] = dy[i] * normal_[i] * slope_[i];
    core::simd().multiply(dy, open_, gated_, n_);
    core::simd().rms_norm_gradient(o, gain_, gated_, inverse, d, dgain, n_);
  }

 private:
  /// The activation of the gate and its slope.
  void open(const Real* gate) {
    if (gate) open_gates(form_.activation, gate, open_, slope_, n_);
  }

  const GatedNormForm& form_;
  const Real* gain_;
  Index n_;
  std::vector<Real> scratch_;
  Real *open_, *slope_, *gated_, *normal_;
};

}  // namespace

/// With n = o / root, m = dy gain a: do = (m - n mean(n m)) / root, dgain = sum dy n a,
/// da = dy n gain; gating first, the same of o a.  Saves: o and the gate.
Var gated_norm(const GatedNormForm& form, const Var& o, const Var& gate,
               const autograd::Parameter& gain) {
  const bool gated = form.activation != Activation::none;
  const Index n = gain.shape().size(), rows = o.value().size() / n;
  core::require(o.shape().rank() == 2 && o.shape()[1] % n == 0, "gated_norm: gain ", gain.shape(),
                " for heads ", o.shape());
  core::require(!gated || gate.shape() == o.shape(), "gated_norm: gate ", gate.shape(),
                " for heads ", o.shape());
  core::require(gated || !form.gate_first, "gated_norm: gates first, but has no gate");
  Tensor y(o.shape());
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
    NormRow row(form, gain.data(), n);
    for (Index r = begin; r < end; ++r)
      row.apply(o.value().data() + r * n, gated ? gate.value().data() + r * n : nullptr,
                to + r * n);
  });
  return autograd::record(
      "gated_norm", std::move(y), {o, gate},
      [form, gated, given = o.value(), opened = gate.value(), &gain, n, rows](Tensor dy) {
        Tensor d(given.shape()), dgate = gated ? Tensor(given.shape()) : Tensor();
        Real *to_heads = d.write().data(), *to_gate = gated ? dgate.write().data() : nullptr;
        autograd::sum_over_rows(rows, n, gain.gradient(), [&](Index begin, Index end, Real* sums) {
          NormRow row(form, gain.data(), n);
          for (Index r = begin; r < end; ++r)
            row.pull_back(given.data() + r * n, gated ? opened.data() + r * n : nullptr,
                          dy.data() + r * n, to_heads + r * n, gated ? to_gate + r * n : nullptr,
                          sums);
        });
        return autograd::Gradients{std::move(d), std::move(dgate)};
      });
}

/// do = dy a, dgate = dy o a'.  Saves: o and the gate.
Var gate_heads(Activation activation, const Var& o, const Var& gate) {
  core::require(activation != Activation::none && gate.shape() == o.shape(), "gate_heads: gate ",
                gate.shape(), " for heads ", o.shape());
  const Index n = o.shape().back(), rows = o.value().size() / n;
  /// body(first number of a row, its gates' activation, their slopes)
  const auto for_each_row = [=](const Tensor& given, const auto& body) {
    core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
      std::vector<Real> scratch(std::size_t(2 * n));
      for (Index r = begin; r < end; ++r) {
        open_gates(activation, given.data() + r * n, scratch.data(), scratch.data() + n, n);
        body(r * n, scratch.data(), scratch.data() + n);
      }
    });
  };
  Tensor y(o.shape());
  Real* to = y.write().data();
  for_each_row(gate.value(), [&](Index at, const Real* open, const Real*) {
    core::simd().multiply(o.value().data() + at, open, to + at, n);
  });
  return autograd::record("gate_heads", std::move(y), {o, gate},
                          [for_each_row, given = o.value(), opened = gate.value(), n](Tensor dy) {
                            Tensor dgate(given.shape());
                            Real *d = dy.write().data(), *to_gate = dgate.write().data();
                            for_each_row(
                                opened, [&](Index at, const Real* open, const Real* slope) {
                                  for (Index i = 0; i < n; ++i)
                                    to_gate[at + i] = d[at + i] * given.data()[at + i] * slope[i];
                                  core::simd().multiply(d + at, open, d + at, n);
                                });
                            return autograd::Gradients{std::move(dy), std::move(dgate)};
                          });
}

}  // namespace weft::layers
