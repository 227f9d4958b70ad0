#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {

/// Sequence by sequence, the mean of its first rows.
/// dx is dy / count in each of those rows and zero in the others.  Saves: nothing.
Var mean_rows(const Var& x, const std::vector<Index>& counts) {
  const Shape shape = x.shape();
  const auto batch = Index(counts.size());
  core::require(shape.rank() == 2 && batch > 0 && shape[0] % batch == 0, "mean_rows: ", batch,
                " counts for rows of shape ", shape);
  const Index length = shape[0] / batch, columns = shape[1];
  for (const Index count : counts)
    core::require(count >= 1 && count <= length, "mean_rows: a count of ", count,
                  " in sequences of ", length);
  Tensor y({batch, columns}, 0);
  Real* means = y.write().data();
  core::parallel_for(batch, 1, [&](Index b, Index) {
    const Index count = counts[std::size_t(b)];
    Real* own = means + b * columns;
    for (Index t = 0; t < count; ++t) {
      const Real* row = x.value().data() + (b * length + t) * columns;
      for (Index c = 0; c < columns; ++c) own[c] += row[c];
    }
    for (Index c = 0; c < columns; ++c) own[c] /= Real(count);
  });
  return record("mean_rows", std::move(y), {x}, [=](Tensor dy) {
    Tensor dx(shape, 0);
    Real* to = dx.write().data();
    core::parallel_for(batch, 1, [&](Index b, Index) {
      const Index count = counts[std::size_t(b)];
      for (Index t = 0; t < count; ++t)
        for (Index c = 0; c < columns; ++c)
          to[(b * length + t) * columns + c] = dy.data()[b * columns + c] / Real(count);
    });
    return Gradients{std::move(dx)};
  });
}

}  // namespace weft::autograd
