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
void undo(const Pass& pass, const Part& f, const Tensor& x, Tensor& sum, Tensor& dx,
          const Tensor& dy, const TapeOptions& options) {
  add_to(dx,
         replay(pass, f, x, dy, options, [&](const Tensor& value) { add_scaled(-1, value, sum); }));
}

}  // namespace

/// y1 = x1 + f(x2), y2 = x2 + g(y1), block after block, from x1 = x2 = x; then (y1 + y2) / 2 or
/// both side by side. The sweep finds x2 = y2 - g(y1) and x1 = y1 - f(x2) from the outputs, last
/// block first, running each branch once more:
/// dx1 = dy1 + J_g^T dy2, dx2 = dy2 + J_f^T dx1.
/// Saves: the last y1 and y2, whatever the depth.
Var reversible(const Pass& pass, std::vector<ReversibleBlock> blocks, const Var& x,
               StreamOutput output) {
  const TapeOptions options = x.tape() ? x.tape()->options() : TapeOptions{};
  Tensor y1 = x.value(), y2 = x.value();
  for (const ReversibleBlock& block : blocks) {
    add_to(y1, run_unrecorded(pass, block.f, y2, options));
    add_to(y2, run_unrecorded(pass, block.g, y1, options));
  }
  Tensor y = join(y1, y2, output);
  return record("reversible", std::move(y), {x},
                [pass, blocks = std::move(blocks), options, output, y1 = std::move(y1),
                 y2 = std::move(y2)](Tensor dy) mutable {
                  auto [d1, d2] = part(std::move(dy), output);
                  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
                    undo(pass, block->g, y1, y2, d1, d2, options);
                    undo(pass, block->f, y2, y1, d2, d1, options);
                  }
                  add_to(d1, std::move(d2));
                  return Gradients{std::move(d1)};
                });
}

}  // namespace weft::autograd
