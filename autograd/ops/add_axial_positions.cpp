#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

/// Tables [n1, d1] and [n2, d2]; position p has row p / n2 of the first next to row p % n2 of the
/// second.
struct Axes {
  const Parameter &first, &second;

  Index columns() const { return second.shape()[0]; }
  Index positions() const { return first.shape()[0] * columns(); }
  Index width(int axis) const { return (axis == 0 ? first : second).shape()[1]; }
  /// Where position p is in the table of an axis.
  Index offset(int axis, Index p) const {
    return (axis == 0 ? p / columns() : p % columns()) * width(axis);
  }
};

/// d of a table: rows of dy go to their place in the order of positions. Tasks split the columns.
void pull_back(const Axes& axes, int axis, const Tensor& dy, Index length, Index start) {
  const std::span<Real> gradient = (axis == 0 ? axes.first : axes.second).gradient();
  if (gradient.empty()) return;
  const Index n = dy.shape().back(), left = axis == 0 ? 0 : axes.width(0);
  constexpr Index columns = 64;
  core::parallel_for(axes.width(axis), columns, [&](Index begin, Index end) {
    for (Index r = 0; r < dy.shape()[0]; ++r)
      core::simd().axpy(1, dy.data() + r * n + left + begin,
                        gradient.data() + axes.offset(axis, start + r % length) + begin,
                        end - begin);
  });
}

}  // namespace

/// y[b T + t] = x[b T + t] + [first[p / n2] | second[p % n2]] with p = start + t.
/// dx = dy; dfirst[i] sums the left columns of dy over all p of row i, dsecond[j] the right ones
/// over all p of column j.  Saves: nothing.
Var add_axial_positions(const Var& x, const Parameter& first, const Parameter& second, Index length,
                        Index start) {
  core::require(first.shape().rank() == 2 && second.shape().rank() == 2,
                "add_axial_positions: tables of shape ", first.shape(), " and ", second.shape());
  const Axes axes{first, second};
  const Index left = axes.width(0), right = axes.width(1), n = left + right;
  core::require(
      x.shape().rank() == 2 && x.shape()[1] == n && length > 0 && x.shape()[0] % length == 0,
      "add_axial_positions: input ", x.shape(), " is not whole sequences of length ", length,
      " and width ", n);
  core::require(start >= 0 && start + length <= axes.positions(),
                "add_axial_positions: positions up to ", start + length, " but the tables reach ",
                axes.positions());
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(x.shape()[0], core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const Index p = start + r % length;
      const Real* from = x.value().data() + r * n;
      core::simd().add(from, first.data() + axes.offset(0, p), to + r * n, left);
      core::simd().add(from + left, second.data() + axes.offset(1, p), to + r * n + left, right);
    }
  });
  return record("add_axial_positions", std::move(y), {x}, [axes, length, start](Tensor dy) {
    pull_back(axes, 0, dy, length, start);
    pull_back(axes, 1, dy, length, start);
    return Gradients{std::move(dy)};
  });
}

}  // namespace weft::autograd
