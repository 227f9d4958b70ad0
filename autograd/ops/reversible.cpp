#include <array>

#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

/// to += a x, in place.
void add_scaled(Real a, const Tensor& x, Tensor& to) {
  core::require(x.shape() == to.shape(), "reversible: a branch turned shape ", to.shape(), " into ",
                x.shape());
  Real* y = to.write().data();
  const Real* from = x.data();
  core::parallel_for(x.size(), core::elementwise_grain, [=](Index begin, Index end) {
    core::simd().axpy(a, from + begin, y + begin, end - begin);
  });
}

/// sum += term in the memory of whichever nobody else reads.
void add_to(Tensor& sum, Tensor term) {
  if (!sum.is_sole_owner() && !term.is_sole_owner()) {
    Tensor own(sum.shape(), 0);
    add_scaled(1, sum, own);
    sum = std::move(own);
  }
  if (!sum.is_sole_owner()) std::swap(sum, term);
  add_scaled(1, term, sum);
}

Tensor join(const Tensor& first, const Tensor& second, StreamOutput output) {
  if (output == StreamOutput::concat) {
    Tensor y(with_columns(first.shape(), 2 * first.shape().back()));
    put_columns(first, y, 0);
    put_columns(second, y, first.shape().back());
    return y;
  }
  Tensor y(first.shape());
  Real* to = y.write().data();
  core::parallel_for(y.size(), core::elementwise_grain, [&](Index begin, Index end) {
    core::simd().add(first.data() + begin, second.data() + begin, to + begin, end - begin);
    core::simd().scale(Real(0.5), to + begin, end - begin);
  });
  return y;
}

/// The streams' gradients from that of their join.
std::pair<Tensor, Tensor> part(Tensor dy, StreamOutput output) {
  if (output == StreamOutput::concat) {
    const Index width = dy.shape().back() / 2;
    return {take_columns(dy, 0, width), take_columns(dy, width, width)};
  }
  Real* d = dy.write().data();
  core::parallel_for(dy.size(), core::elementwise_grain, [=](Index begin, Index end) {
    core::simd().scale(Real(0.5), d + begin, end - begin);
  });
  return {dy, dy};
}

/// Takes f(x) off `sum` again and adds the gradient that dy, that of the sum, has at x.
void undo(const Pass& pass, const Sublayer& f, const Tensor& x, Tensor& sum, Tensor& dx,
          const Tensor& dy, const TapeOptions& options) {
  add_to(dx,
         replay(pass, f, x, dy, options, [&](const Tensor& value) { add_scaled(-1, value, sum); }));
}

}  // namespace

/// y1 = x1 + f0(x2), y2 = x2 + f1(y1) and so on in turn; then (y1 + y2) / 2 or both side by side.
/// The sweep takes each branch's value off again, last branch first, running it once more where it
/// read: with y = x + f(z), x = y - f(z) and dz += J_f^T dy.
/// Saves: the last y1 and y2, whatever the depth.
Var reversible(const Pass& pass, std::vector<Sublayer> branches, const Var& first,
               const Var& second, StreamOutput output) {
  core::require(first.shape() == second.shape(), "reversible: streams of shapes ", first.shape(),
                " and ", second.shape());
  const Tape* tape = first.tape() ? first.tape() : second.tape();
  const TapeOptions options = tape ? tape->options() : TapeOptions{};
  Tensor y[2] = {first.value(), second.value()};
  std::vector<Index> places;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (options.watch) places.push_back(options.watch->place());
    add_to(y[i % 2], run_unrecorded(pass, branches[i], y[1 - i % 2], options));
    if (options.watch) options.watch->advance();
  }
  Tensor joined = join(y[0], y[1], output);
  return record("reversible", std::move(joined), {first, second},
                [pass, branches = std::move(branches), places = std::move(places), options, output,
                 y = std::array{std::move(y[0]), std::move(y[1])}](Tensor dy) mutable {
                  auto [d1, d2] = part(std::move(dy), output);
                  Tensor* d[2] = {&d1, &d2};
                  for (std::size_t i = branches.size(); i-- > 0;) {
                    undo(pass, branches[i], y[1 - i % 2], y[i % 2], *d[1 - i % 2], *d[i % 2],
                         options);
                    if (options.watch) options.watch->swept(places[i]);
                  }
                  return Gradients{std::move(d1), std::move(d2)};
                });
}

}  // namespace weft::autograd
