#include "layers/multi_head/stream_memory.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {

Tensor last_rows(const Tensor& x, Index batch, Index count) {
  if (x.size() == 0) return {};
  const Index rows = x.shape()[0] / batch, columns = x.shape()[1];
  if (count >= rows) return x;
  if (count == 0) return {};
  Tensor last({batch * count, columns});
  Real* to = last.write().data();
  for (Index b = 0; b < batch; ++b)
    std::copy_n(x.data() + ((b + 1) * rows - count) * columns, count * columns,
                to + b * count * columns);
  return last;
}

StreamMemory::StreamMemory(const std::vector<Index>& rows, const std::vector<Index>& numbers,
                           Index batch, Index width)
    : batch_(batch), held_({Index(rows.size())}, 0) {
  for (const Index own : rows) kept_.emplace_back(core::Shape{batch, own, width}, Real(0));
  for (const Index own : numbers) states_.emplace_back(core::Shape{batch, own}, Real(0));
}

void StreamMemory::forget() {
  if (!kept_.empty()) std::ranges::fill(held_.write(), Real(0));
  for (Tensor& state : states_)
    if (state.size() > 0) std::ranges::fill(state.write(), Real(0));
}

void StreamMemory::set_state(std::size_t layer, const Tensor& after) {
  core::require(after.shape() == states_[layer].shape(), "stream memory: a state of ",
                after.shape(), " for ", states_[layer].shape());
  std::ranges::copy(after.read(), states_[layer].write().begin());
}

Tensor StreamMemory::read(std::size_t layer) const {
  const core::Shape shape = kept_[layer].shape();
  return last_rows(kept_[layer].reshaped({batch_ * shape[1], shape[2]}), batch_, held(layer));
}

void StreamMemory::append(std::size_t layer, const Tensor& now, Index most) {
  const core::Shape shape = kept_[layer].shape();
  const Index rows = shape[1], width = shape[2], fresh = now.shape()[0] / batch_;
  core::require(now.shape() == core::Shape{batch_ * fresh, width}, "stream memory: a segment of ",
                now.shape(), " for ", batch_, " streams of width ", width);
  const Index keeps = std::min({held(layer) + fresh, rows, most});
  const Index taken = std::min(fresh, keeps), moved = keeps - taken;
  Real* kept = kept_[layer].write().data();
  for (Index b = 0; b < batch_; ++b) {
    Real* end = kept + (b + 1) * rows * width;
    std::copy(end - moved * width, end, end - keeps * width);
    std::copy_n(now.data() + ((b + 1) * fresh - taken) * width, taken * width, end - taken * width);
  }
  held_.write()[layer] = Real(keeps);
}

std::vector<core::NamedArray> StreamMemory::arrays() {
  std::vector<core::NamedArray> all;
  if (kept_.empty()) return all;
  all.push_back({"held", held_.shape(), held_.write()});
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (kept_[i].size() > 0)
      all.push_back({"layers." + std::to_string(i), kept_[i].shape(), kept_[i].write()});
  for (std::size_t i = 0; i < states_.size(); ++i)
    if (states_[i].size() > 0)
      all.push_back({"states." + std::to_string(i), states_[i].shape(), states_[i].write()});
  return all;
}

}  // namespace weft::layers
