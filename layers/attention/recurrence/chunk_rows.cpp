#include "layers/attention/recurrence/chunk_rows.h"

#include <cmath>

#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// Added to the squared length of queries and keys.
constexpr Real unit_eps = Real(1e-6);

/// The gate of one token and head.
template <class GatesAt>
auto gate_at(const GatesAt& gates, GateForm form, Index token, Index head, Index width) {
  const Index columns = form == GateForm::column ? width : 1;
  return form == GateForm::none ? nullptr : gates.data + token * gates.stride + head * columns;
}

/// y = gate x
void gated(GateForm form, const Real* gate, const Real* x, Real* y, Index width) {
  if (form == GateForm::column) {
    core::simd().multiply(gate, x, y, width);
  } else {
    const Real factor = form == GateForm::none ? 1 : *gate;
    for (Index d = 0; d < width; ++d) y[d] = factor * x[d];
  }
}

/// dx += gate dy, and the gate's gradient, dy x, its sum where it is one number.
void pull_back_gate(GateForm form, const Real* gate, const Real* x, const Real* dy, Real* dx,
                    Real* dgate, Index width) {
  if (form == GateForm::column) {
    core::simd().multiply_add(gate, dy, dx, width);
    if (dgate) core::simd().multiply(dy, x, dgate, width);
  } else {
    core::simd().axpy(form == GateForm::none ? 1 : *gate, dy, dx, width);
    if (dgate) *dgate = core::simd().dot(dy, x, width);
  }
}

/// dx of y = x / |x|: (dy - y (y . dy)) / |x|; in place.
void pull_back_unit(const Real* y, Real inverse, Real* d, Index width) {
  const Real along = core::simd().dot(y, d, width);
  for (Index i = 0; i < width; ++i) d[i] = inverse * (d[i] - along * y[i]);
}

}  // namespace

ChunkRows::ChunkRows(const RecurrenceProblem& problem)
    : problem_(problem),
      width_(problem.width),
      storage_({problem.rows() * (4 * problem.width + 2)}) {
  memory_ = storage_.write().data();
  q_inverse_ = memory_ + 4 * problem.rows() * width_;
  k_inverse_ = q_inverse_ + problem.rows();
}

Real ChunkRows::normalise(const Real* x, Real* y) const {
  const Real inverse =
      problem_.unit ? 1 / std::sqrt(core::simd().dot(x, x, width_) + unit_eps) : Real(1);
  for (Index d = 0; d < width_; ++d) y[d] = inverse * x[d];
  return inverse;
}

void ChunkRows::load(const RecurrenceInputs& in, const HeadLane& lane, const TokenSpan& span) {
  rows_ = span.rows;
  const Index shared = lane.key_head * width_;
  const core::Matrix q = readers(), e = erasers(), k = keys(), w = writes();
  for (Index r = 0; r < rows_; ++r) {
    const Index token = span.token + r, at = r * width_;
    q_inverse_[r] = normalise(in.q.data + token * in.q.stride + shared, q.data + at);
    if (r >= span.real) {
      std::fill_n(k.data + at, width_, Real(0));
      std::fill_n(w.data + at, width_, Real(0));
      if (problem_.erases()) std::fill_n(e.data + at, width_, Real(0));
      continue;
    }
    k_inverse_[r] = normalise(in.k.data + token * in.k.stride + shared, k.data + at);
    gated(problem_.write, gate_at(in.write, problem_.write, token, lane.head, width_),
          in.v.data + token * in.v.stride + lane.head * width_, w.data + at, width_);
    if (problem_.erases())
      gated(problem_.erase, gate_at(in.erase, problem_.erase, token, lane.head, width_),
            k.data + at, e.data + at, width_);
  }
}

void ChunkRows::pull_back(const RecurrenceInputs& in, const HeadLane& lane, const TokenSpan& span,
                          const core::Matrix& dreaders, const core::Matrix& dkeys,
                          const core::Matrix& dwrites, const RecurrenceGradients& to) const {
  const core::Matrix q = readers(), k = keys();
  const auto gradient_at = [&](const Gates& gates, GateForm form, Index token) {
    return gates.data ? gate_at(gates, form, token, lane.head, width_) : nullptr;
  };
  for (Index r = 0; r < rows_; ++r) {
    const Index token = span.token + r, at = r * width_, column = lane.head * width_;
    Real* dq = to.q.data + token * to.q.stride + column;
    Real* dk = to.k.data + token * to.k.stride + column;
    Real* dv = to.v.data + token * to.v.stride + column;
    Real* dwrite = gradient_at(to.write, problem_.write, token);
    Real* derase = gradient_at(to.erase, problem_.erase, token);
    std::copy_n(dreaders.data + at, width_, dq);
    if (problem_.unit) pull_back_unit(q.data + at, q_inverse_[r], dq, width_);
    std::fill_n(dv, width_, Real(0));
    if (r >= span.real) {
      std::fill_n(dk, width_, Real(0));
      if (dwrite) std::fill_n(dwrite, problem_.write == GateForm::column ? width_ : 1, Real(0));
      if (derase) std::fill_n(derase, problem_.erase == GateForm::column ? width_ : 1, Real(0));
      continue;
    }
    std::copy_n(dkeys.data + at, width_, dk);
    if (problem_.erases())
      pull_back_gate(problem_.erase, gate_at(in.erase, problem_.erase, token, lane.head, width_),
                     k.data + at, dreaders.data + rows_ * width_ + at, dk, derase, width_);
    if (problem_.unit) pull_back_unit(k.data + at, k_inverse_[r], dk, width_);
    pull_back_gate(problem_.write, gate_at(in.write, problem_.write, token, lane.head, width_),
                   in.v.data + token * in.v.stride + column, dwrites.data + at, dv, dwrite, width_);
  }
}

}  // namespace weft::layers
