#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// y[i] = x[i] + table[ids[i]], y[i] = x[i] where ids[i] is no_target.
/// dx = dy; dtable[id] sums dy over the rows with this id, in order; tasks split the columns.
/// Saves: ids.
Var add_rows(const Var& x, const Parameter& table, const core::Tokens& ids) {
  core::require(table.shape().rank() == 2 && x.shape().rank() == 2 &&
                    x.shape()[1] == table.shape()[1] && ids.size() == x.shape()[0],
                "add_rows: input ", x.shape(), ", table ", table.shape(), ", ids ", ids.shape());
  const Index n = table.shape()[1];
  for (const core::Token id : ids.read())
    core::require(id == core::no_target || (id >= 0 && id < table.shape()[0]), "add_rows: id ", id,
                  " is outside a table of shape ", table.shape());
  Tensor y = x.value();
  Real* const to = y.write().data();
  core::parallel_for(ids.size(), core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      if (const core::Token id = ids.read()[std::size_t(r)]; id != core::no_target)
        core::simd().axpy(1, table.data() + Index(id) * n, to + r * n, n);
  });
  return record("add_rows", std::move(y), {x}, [&table, ids, n](Tensor dy) {
    const std::span<Real> gradient = table.gradient();
    constexpr Index columns = 64;
    if (!gradient.empty())
      core::parallel_for(n, columns, [&](Index begin, Index end) {
        for (Index r = 0; r < ids.size(); ++r)
          if (const core::Token id = ids.read()[std::size_t(r)]; id != core::no_target)
            core::simd().axpy(1, dy.data() + r * n + begin, gradient.data() + Index(id) * n + begin,
                              end - begin);
      });
    return Gradients{std::move(dy)};
  });
}

}  // namespace weft::autograd
