#include <algorithm>

#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd {
namespace {

/// Calls body(first row, rows, pass) for each piece in order; each is a place of its own.
template <class Body>
void each_piece(const Pass& pass, Index count, Index rows, const Body& body) {
  for (Index first = 0; first < count; first += rows)
    body(first, std::min(rows, count - first), pass.at(std::uint64_t(first / rows)));
}

void put_rows(const Tensor& part, Tensor& whole, Index first) {
  const Index width = part.size() / std::max<Index>(part.shape().front(), 1);
  std::copy_n(part.data(), part.size(), whole.write().data() + first * width);
}

}  // namespace

/// y[r] = f(x[r]) for pieces r of the leading axis. The pullback runs f on each piece again and
/// sweeps it before the next, so that what f keeps inside exists for one piece at a time.
/// Saves: x.
Var by_pieces(const Pass& pass, const Sublayer& f, const Var& x, Index rows) {
  core::require(rows > 0 && x.shape().rank() >= 2, "by_pieces: pieces of ", rows,
                " rows of an input of shape ", x.shape());
  const Index count = x.shape().front();
  if (rows >= count) return f(pass, x);
  const TapeOptions options = x.tape() ? x.tape()->options() : TapeOptions{};
  Tensor y;
  each_piece(pass, count, rows, [&](Index first, Index size, const Pass& own) {
    const Tensor part = run_unrecorded(own, f, x.value().rows(first, size), options);
    core::require(part.shape().rank() >= 1 && part.shape().front() == size,
                  "by_pieces: a piece of ", size, " rows became shape ", part.shape());
    if (y.size() == 0) y = Tensor(with_columns(x.shape(), part.shape().back()));
    put_rows(part, y, first);
  });
  return record("by_pieces", std::move(y), {x},
                [pass, f, rows, options, saved = x.value()](Tensor dy) {
                  Tensor dx(saved.shape());
                  const auto pull = [&](Index first, Index size, const Pass& own) {
                    put_rows(replay(own, f, saved.rows(first, size), dy.rows(first, size), options),
                             dx, first);
                  };
                  each_piece(pass, saved.shape().front(), rows, pull);
                  return Gradients{std::move(dx)};
                });
}

}  // namespace weft::autograd
