#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {

/// Sequence by sequence, the earlier rows and then the columns of x.
/// Their gradients are the rows of dy; columns of x that are not read get zeros.  Saves: nothing.
Var append_rows(const Var& earlier, const Var& x, Index batch, Index first) {
  const Shape before = earlier.shape(), shape = x.shape();
  core::require(before.rank() == 2 && shape.rank() == 2 && batch > 0 && before[0] % batch == 0 &&
                    shape[0] % batch == 0 && first >= 0 && first + before[1] <= shape[1],
                "append_rows: ", batch, " sequences of ", before, " before columns from ", first,
                " of ", shape);
  const Index m = before[0] / batch, t = shape[0] / batch, columns = before[1];
  Tensor y({batch * (m + t), columns});
  Real* to = y.write().data();
  core::parallel_for(batch, 1, [&](Index b, Index) {
    Real* own = to + b * (m + t) * columns;
    std::copy_n(earlier.value().data() + b * m * columns, m * columns, own);
    for (Index i = 0; i < t; ++i)
      std::copy_n(x.value().data() + (b * t + i) * shape[1] + first, columns,
                  own + (m + i) * columns);
  });
  return record("append_rows", std::move(y), {earlier, x}, [=](Tensor dy) {
    Gradients d{Tensor(before), Tensor(shape, 0)};
    Real *dearlier = d[0].write().data(), *dx = d[1].write().data();
    core::parallel_for(batch, 1, [&](Index b, Index) {
      const Real* own = dy.data() + b * (m + t) * columns;
      std::copy_n(own, m * columns, dearlier + b * m * columns);
      for (Index i = 0; i < t; ++i)
        std::copy_n(own + (m + i) * columns, columns, dx + (b * t + i) * shape[1] + first);
    });
    return d;
  });
}

}  // namespace weft::autograd
