#include "layers/attention/recurrence/chunk_decay.h"

#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// e^80 is far from the largest float, also times a key.
constexpr Real deepest_fall = -80;

}  // namespace

ChunkDecay::ChunkDecay(const RecurrenceProblem& problem)
    : problem_(problem),
      form_(problem.decay == GateForm::head ? GateForm::token : problem.decay),
      columns_(form_ == GateForm::column ? problem.width : 1) {
  if (form_ == GateForm::none) return;
  const Index rows = problem.rows(), panel = rows * columns_;
  const Index pairs = form_ == GateForm::token ? rows * rows : 0;
  storage_ = Tensor({3 * panel + pairs + columns_});
  steps_ = storage_.write().data();
  from_start_ = steps_ + panel;
  to_end_ = from_start_ + panel;
  between_ = to_end_ + panel;
  fall_ = between_ + pairs;
}

void ChunkDecay::load(const RecurrenceInputs& inputs, const HeadLane& lane, const TokenSpan& span) {
  rows_ = span.rows;
  if (form_ == GateForm::none) return;
  read_steps(inputs, lane, span);
  if (form_ == GateForm::column) find_parts();
  core::simd().exp_sum(steps_, 1, 0, rows_ * columns_);
  multiply_out();
}

void ChunkDecay::read_steps(const RecurrenceInputs& inputs, const HeadLane& lane,
                            const TokenSpan& span) {
  for (Index r = 0; r < rows_; ++r) {
    const Real* g = inputs.decay.data + (span.token + r) * inputs.decay.stride;
    if (r < span.real)
      std::copy_n(g + lane.head * columns_, columns_, steps_ + r * columns_);
    else
      std::fill_n(steps_ + r * columns_, columns_, Real(0));
  }
}

/// Reads steps_ while they are logarithms. Whether a token opens a part depends on earlier tokens
/// and itself alone.
void ChunkDecay::find_parts() {
  parts_.clear();
  for (Index block = 0; block < rows_; block += part_rows) {
    const Index end = std::min(block + part_rows, rows_);
    Index first = block;
    std::fill_n(fall_, columns_, Real(0));
    for (Index r = block + 1; r < end; ++r) {
      core::simd().add(fall_, steps_ + r * columns_, fall_, columns_);
      bool deep = false;
      for (Index c = 0; c < columns_; ++c) deep |= fall_[c] < deepest_fall;
      if (!deep) continue;
      parts_.push_back({first, r});
      first = r;
      std::fill_n(fall_, columns_, Real(0));
    }
    parts_.push_back({first, end});
  }
}

void ChunkDecay::multiply_out() {
  const auto& simd = core::simd();
  std::copy_n(steps_, columns_, from_start_);
  for (Index r = 1; r < rows_; ++r)
    simd.multiply(from_start_ + (r - 1) * columns_, step(r), from_start_ + r * columns_, columns_);
  std::fill_n(to_end_ + (rows_ - 1) * columns_, columns_, Real(1));
  for (Index r = rows_ - 2; r >= 0; --r)
    simd.multiply(to_end_ + (r + 1) * columns_, step(r + 1), to_end_ + r * columns_, columns_);
  if (form_ != GateForm::token) return;
  between_[0] = 1;
  for (Index r = 1; r < rows_; ++r) {
    const Real* above = between_ + (r - 1) * rows_;
    Real* row = between_ + r * rows_;
    for (Index j = 0; j < r; ++j) row[j] = above[j] * steps_[r];
    row[r] = 1;
  }
}

void ChunkDecay::from_start(const core::ConstMatrix& x, const core::Matrix& y) const {
  const Index width = problem_.width, panel = rows_ * width;
  for (Index group = 0; group < x.rows / rows_; ++group) {
    const Real* from = x.data + group * panel;
    Real* to = y.data + group * panel;
    if (form_ == GateForm::column)
      core::simd().multiply(from_start_, from, to, panel);
    else if (form_ == GateForm::token)
      for (Index r = 0; r < rows_; ++r)
        for (Index d = 0; d < width; ++d) to[r * width + d] = from_start_[r] * from[r * width + d];
    else if (from != to)
      std::copy_n(from, panel, to);
  }
}

void ChunkDecay::to_end(const core::ConstMatrix& x, const core::Matrix& y) const {
  const Index width = problem_.width;
  if (form_ == GateForm::column)
    core::simd().multiply(to_end_, x.data, y.data, rows_ * width);
  else if (form_ == GateForm::token)
    for (Index r = 0; r < rows_; ++r)
      for (Index d = 0; d < width; ++d) y.data[r * width + d] = to_end_[r] * x.data[r * width + d];
  else if (x.data != y.data)
    std::copy_n(x.data, rows_ * width, y.data);
}

void ChunkDecay::over_chunk(const core::Matrix& s) const {
  if (form_ == GateForm::none) return;
  const Real* total = from_start_ + (rows_ - 1) * columns_;
  if (form_ == GateForm::token) return core::simd().scale(*total, s.data, s.rows * s.cols);
  for (Index c = 0; c < s.rows; ++c) core::simd().scale(total[c], s.data + c * s.cols, s.cols);
}

}  // namespace weft::layers
