#include "core/arrays/triangular_solve.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/recurrence/chunk_state.h"
#include "layers/attention/recurrence/decay_gradient.h"
#include "layers/attention/recurrence/kernel.h"

namespace weft::layers {
namespace {

using Readers = ChunkPairs::Readers;

/// One lane: forward again to keep states and writes, then backward.
class BackwardSweep {
 public:
  BackwardSweep(const RecurrenceProblem& problem, const RecurrenceInputs& inputs, Index lane,
                ConstHeads dout, const RecurrenceGradients& to)
      : problem_(problem),
        width_(problem.width),
        chunk_(problem, inputs, lane),
        dout_(dout),
        to_(to),
        decay_gradient_(problem),
        states_({problem.chunks() + 1, width_, width_}),
        writes_({problem.length(), width_}),
        scratch_({width_ * width_ + problem.rows() * (6 * width_ + 2 * problem.rows())}) {
    state_ = states_.write().data();
    write_ = writes_.write().data();
    ds_ = {scratch_.write().data(), width_, width_, width_};
    upstream_ = ds_.data + width_ * width_;
    dreaders_ = upstream_ + 2 * problem.rows() * width_;
    dkeys_ = dreaders_ + 2 * problem.rows() * width_;
    dwrites_ = dkeys_ + problem.rows() * width_;
    dpairs_ = dwrites_ + problem.rows() * width_;
  }

  void run() {
    for (Index c = 0; c < problem_.chunks(); ++c) rebuild(c);
    std::fill_n(ds_.data, width_ * width_, Real(0));
    for (Index c = problem_.chunks() - 1; c >= 0; --c) pull_back(c);
    if (to_.initial)
      std::copy_n(ds_.data, width_ * width_, to_.initial + chunk_.lane.index * width_ * width_);
  }

 private:
  core::Matrix state(Index c) const {
    return {state_ + c * width_ * width_, width_, width_, width_};
  }
  core::Matrix writes() const {
    return {write_ + chunk_.span.first * width_, chunk_.span.rows, width_, width_};
  }
  core::Matrix panel(Real* data, Index rows) const { return {data, rows, width_, width_}; }

  /// States and writes of the forward pass; the last state only where the decay's gradient asks for
  /// it.
  void rebuild(Index c) {
    if (c == 0) {
      const Real* initial = chunk_.inputs.initial;
      if (initial)
        std::copy_n(initial + chunk_.lane.index * width_ * width_, width_ * width_, state_);
      else
        std::fill_n(state_, width_ * width_, Real(0));
    }
    chunk_.load(c);
    const Index n = chunk_.span.rows;
    const core::Matrix read = chunk_.read(n), pairs = chunk_.products(n);
    if (problem_.erases()) {
      const core::Matrix erasers = chunk_.rows.erasers(), decayed = chunk_.decayed(n);
      chunk_.decay.from_start(erasers, decayed);
      core::gemm(1, decayed, state(c), 0, read);
      chunk_.pairs.multiply(Readers::erasers, erasers, chunk_.rows.keys(), pairs);
    }
    chunk_.solve(read, pairs, writes());
    std::copy_n(state(c).data, width_ * width_, state(c + 1).data);
    chunk_.absorb(writes(), state(c + 1));
  }

  void pull_back(Index c) {
    chunk_.load(c);
    const Index n = chunk_.span.rows, all = problem_.groups() * n;
    const Readers which = problem_.erases() ? Readers::both : Readers::queries;
    const core::Matrix readers = chunk_.rows.readers(), keys = chunk_.rows.keys(), u = writes();
    const core::Matrix pairs = chunk_.products(all), decayed = chunk_.decayed(all);
    const core::Matrix upstream = panel(upstream_, all), dreaders = panel(dreaders_, all);
    const core::Matrix dkeys = panel(dkeys_, n), dwrites = panel(dwrites_, n);
    const core::Matrix dpairs{dpairs_, all, n, n};

    chunk_.pairs.multiply(which, readers, keys, pairs);
    pull_back_writes(pairs, upstream, dwrites);
    core::gemm(1, upstream, core::transposed(u), 0, dpairs);
    core::gemm(1, upstream, core::transposed(state(c)), 0, dreaders);
    chunk_.decay.from_start(dreaders, dreaders);
    core::gemm(1, u, core::transposed(ds_), 0, dkeys);
    chunk_.decay.to_end(dkeys, dkeys);
    const bool by_column = chunk_.decay.form() == GateForm::column;
    if (to_.decay.data && !by_column)
      decay_gradient_.pull_back_tokens(chunk_, {pairs, dpairs, dreaders, dkeys}, state(c), ds_,
                                       to_.decay);
    chunk_.pairs.pull_back(which, dpairs, readers, keys, dreaders, dkeys);
    if (to_.decay.data && by_column)
      decay_gradient_.pull_back_columns(chunk_, dreaders, dkeys, state(c + 1), ds_, to_.decay);
    chunk_.rows.pull_back(chunk_.inputs, chunk_.lane, chunk_.span, dreaders, dkeys, dwrites, to_);
    chunk_.decay.from_start(readers, decayed);
    chunk_.decay.over_chunk(ds_);
    core::gemm(1, core::transposed(decayed), upstream, 1, ds_);
  }

  /// The gradient of what was written before erasing, and of the readers' products: that of the
  /// output after the queries, minus that of the writes after what is erased.
  void pull_back_writes(const core::Matrix& pairs, const core::Matrix& upstream,
                        const core::Matrix& dwrites) {
    const Index n = chunk_.span.rows;
    for (Index r = 0; r < n; ++r) {
      const Real* from =
          dout_.data + (chunk_.span.token + r) * dout_.stride + chunk_.lane.head * width_;
      for (Index d = 0; d < width_; ++d) upstream.data[r * width_ + d] = problem_.scale * from[d];
    }
    core::gemm(1, core::transposed(rows_within(pairs, 0, n)), rows_within(upstream, 0, n), 0,
               dwrites);
    const core::Matrix decayed = chunk_.decayed(n);
    chunk_.decay.to_end(chunk_.rows.keys(), decayed);
    core::gemm(1, decayed, ds_, 1, dwrites);
    if (!problem_.erases()) return;
    core::solve_unit_lower(core::transposed(rows_within(pairs, n, n)), dwrites);
    Real* erased = upstream.data + n * width_;
    for (Index i = 0; i < n * width_; ++i) erased[i] = -dwrites.data[i];
  }

  const RecurrenceProblem& problem_;
  Index width_;
  ChunkState chunk_;
  ConstHeads dout_;
  const RecurrenceGradients& to_;
  DecayGradient decay_gradient_;
  Tensor states_, writes_, scratch_;
  Real *state_, *write_, *upstream_, *dreaders_, *dkeys_, *dwrites_, *dpairs_;
  core::Matrix ds_{};
};

}  // namespace

void recurrence_backward(const RecurrenceProblem& problem, const RecurrenceInputs& inputs,
                         ConstHeads dout, const RecurrenceGradients& gradients) {
  core::parallel_for(problem.lanes(), 1, [&](Index lane, Index) {
    BackwardSweep(problem, inputs, lane, dout, gradients).run();
  });
}

}  // namespace weft::layers
