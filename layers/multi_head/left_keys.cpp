#include "layers/multi_head/left_keys.h"

#include <numeric>

#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// Rows of sequences of `length` tokens, or of some tokens of theirs.
template <class Copy>
void for_rows(Index batch, Index count, Index width, const Copy& copy) {
  core::parallel_for(batch * count, core::rows_per_piece(width), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) copy(r / count, r % count);
  });
}

}  // namespace

Tensor LeftKeys::tokens_of(const Tensor& x, Index first, Index count) const {
  const Index length = x.shape()[0] / batch_, width = x.shape()[1];
  if (first == 0 && count == length) return x;
  Tensor some({batch_ * count, width});
  Real* to = some.write().data();
  for_rows(batch_, count, width, [&](Index b, Index t) {
    std::copy_n(x.data() + (b * length + first + t) * width, width, to + (b * count + t) * width);
  });
  return some;
}

/// The blocks side by side.  -> [B * T, all widths]
Tensor LeftKeys::join(const std::vector<HeadBlock>& now, const std::vector<Index>& widths) const {
  const Index rows = now[0].matrix.shape()[0], width = std::reduce(widths.begin(), widths.end());
  Tensor all({rows, width});
  Real* to = all.write().data();
  for_rows(1, rows, width, [&](Index, Index r) {
    Real* row = to + r * width;
    for (std::size_t i = 0; i < now.size(); row += widths[i++]) {
      const ConstHeads from = heads_of(now[i]);
      std::copy_n(from.data + r * from.stride, widths[i], row);
    }
  });
  return all;
}

/// Sends what others read of these rows, and collects what comes before them.
Tensor LeftKeys::trade_values(const Tensor& own) const {
  const Index length = own.shape()[0] / batch_, width = own.shape()[1], left = rows();
  Tensor before({batch_ * left, width}, 0);
  if (!chunk_.link) return before;
  const Index number = chunk_.number, begin = reach_.begin(chunk_.first());
  for (Index to = number + 1; to < chunk_.cut.count; ++to)
    if (const Index count = reach_.read(chunk_.cut, number, to).size(); count > 0)
      chunk_.link->send(number, to, tokens_of(own, length - count, count).read());
  for (Index from = 0; from < number; ++from) {
    const core::Stretch read = reach_.read(chunk_.cut, from, number);
    if (read.size() == 0) continue;
    Tensor part({batch_ * read.size(), width});
    chunk_.link->receive(from, number, part.write());
    Real* to = before.write().data();
    for_rows(batch_, read.size(), width, [&](Index b, Index t) {
      std::copy_n(part.data() + (b * read.size() + t) * width, width,
                  to + (b * left + read.begin - begin + t) * width);
    });
  }
  return before;
}

/// Sends back the gradients of what was read, and adds those of what others read here.
/// Returns the gradient of this chunk's rows.
Tensor LeftKeys::trade_gradients(const Tensor& dy) const {
  const Index left = rows(), width = dy.shape()[1], length = dy.shape()[0] / batch_ - left;
  Tensor own = tokens_of(dy, left, length);
  if (!chunk_.link) return own;
  const Index number = chunk_.number, begin = reach_.begin(chunk_.first());
  for (Index to = 0; to < number; ++to)
    if (const core::Stretch read = reach_.read(chunk_.cut, to, number); read.size() > 0)
      chunk_.link->send(number, to, tokens_of(dy, read.begin - begin, read.size()).read());
  for (Index from = number + 1; from < chunk_.cut.count; ++from) {
    const Index count = reach_.read(chunk_.cut, number, from).size();
    if (count == 0) continue;
    Tensor part({batch_ * count, width});
    chunk_.link->receive(from, number, part.write());
    Real* to = own.write().data();
    for_rows(batch_, count, width, [&](Index b, Index t) {
      Real* row = to + (b * length + length - count + t) * width;
      core::simd().add(part.data() + (b * count + t) * width, row, row, width);
    });
  }
  return own;
}

std::vector<HeadBlock> LeftKeys::before(const Pass& pass, const std::vector<HeadBlock>& now,
                                        const std::vector<Index>& widths) const {
  const Index left = rows(), width = std::reduce(widths.begin(), widths.end());
  const Tensor own = join(now, widths);
  const Index length = own.shape()[0] / batch_;
  const auto from_left = pass.decide("left_keys", [&] { return trade_values(own); });
  Tensor y({batch_ * (left + length), width});
  Real* data = y.write().data();
  for_rows(batch_, left + length, width, [&](Index b, Index t) {
    const Real* from = t < left ? from_left->data() + (b * left + t) * width
                                : own.data() + (b * length + t - left) * width;
    std::copy_n(from, width, data + (b * (left + length) + t) * width);
  });
  // It is recorded where nothing comes from the left too: other chunks have gradients for it.
  const HeadGradients gradients(now, widths);
  const Var all = autograd::record(
      "left_keys", std::move(y), gradients.sources(), [keys = *this, gradients, widths](Tensor dy) {
        const Tensor own_gradient = keys.trade_gradients(dy);
        autograd::Gradients d = gradients.allocate();
        const Index columns = own_gradient.shape()[1];
        Index first = 0;
        for (std::size_t i = 0; i < widths.size(); first += widths[i++]) {
          const Heads to = gradients.heads(d, i);
          for_rows(1, own_gradient.shape()[0], columns, [&](Index, Index r) {
            std::copy_n(own_gradient.data() + r * columns + first, widths[i],
                        to.data + r * to.stride);
          });
        }
        return d;
      });
  std::vector<HeadBlock> blocks;
  Index first = 0;
  for (const Index own_width : widths) {
    blocks.push_back({all, first});
    first += own_width;
  }
  return blocks;
}

core::Traffic traffic_of_keys(const core::ChunkCut& cut, LeftReach reach, Index numbers, Index from,
                              Index to) {
  const Index tokens = reach.read(cut, std::min(from, to), std::max(from, to)).size();
  if (tokens == 0 || from == to) return {};
  return {tokens * numbers * Index(sizeof(Real)), 1};
}

}  // namespace weft::layers
