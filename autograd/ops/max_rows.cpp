#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {

/// Sequence by sequence and column by column, the largest of its first rows, of equals the first.
/// dx is dy in the row that won and zero in the others.  Saves: the winning row of each column.
Var max_rows(const Var& x, const std::vector<Index>& counts) {
  const Shape shape = x.shape();
  const auto batch = Index(counts.size());
  core::require(shape.rank() == 2 && batch > 0 && shape[0] % batch == 0, "max_rows: ", batch,
                " counts for rows of shape ", shape);
  const Index length = shape[0] / batch, columns = shape[1];
  for (const Index count : counts)
    core::require(count >= 1 && count <= length, "max_rows: a count of ", count,
                  " in sequences of ", length);
  Tensor y({batch, columns});
  auto winners = std::make_shared<std::vector<Index>>(std::size_t(batch * columns));
  Real* largest = y.write().data();
  core::parallel_for(batch, 1, [&](Index b, Index) {
    Real* own = largest + b * columns;
    Index* rows = winners->data() + b * columns;
    for (Index t = 0; t < counts[std::size_t(b)]; ++t) {
      const Real* row = x.value().data() + (b * length + t) * columns;
      for (Index c = 0; c < columns; ++c)
        if (t == 0 || row[c] > own[c]) {
          own[c] = row[c];
          rows[c] = b * length + t;
        }
    }
  });
  return record("max_rows", std::move(y), {x}, [=](Tensor dy) {
    Tensor dx(shape, 0);
    Real* to = dx.write().data();
    for (Index i = 0; i < batch * columns; ++i)
      to[(*winners)[std::size_t(i)] * columns + i % columns] = dy.data()[i];
    return Gradients{std::move(dx)};
  });
}

}  // namespace weft::autograd
