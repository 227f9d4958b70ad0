#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

/// dtable[id] += the sum of dy over the places that hold id, in the order of places. Tasks split
/// the columns, so no two write the same number.
void scatter(const core::Tokens& tokens, const Tensor& dy, std::span<Real> dtable, Index n) {
  const auto ids = tokens.read();
  constexpr Index columns = 64;
  core::parallel_for(n, columns, [&](Index begin, Index end) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      core::simd().axpy(1, dy.data() + Index(i) * n + begin,
                        dtable.data() + Index(ids[i]) * n + begin, end - begin);
  });
}

}  // namespace

/// y[i] = table[tokens[i]].  dtable[id] += sum of dy where tokens = id.  Saves: tokens.
Var embedding(const Pass& pass, const core::Tokens& tokens, const Parameter& table) {
  core::require(table.shape().rank() == 2, "embedding: table of shape ", table.shape());
  const Index most = table.shape()[0], n = table.shape()[1];
  std::vector<Index> extents;
  for (Index axis = 0; axis < tokens.shape().rank(); ++axis)
    extents.push_back(tokens.shape()[axis]);
  extents.push_back(n);
  Tensor y{Shape(extents)};
  Real* to = y.write().data();
  const auto ids = tokens.read();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    core::require(ids[i] >= 0 && ids[i] < most, "embedding: token ", ids[i], " at place ", i,
                  " is outside the vocabulary of ", most);
    std::copy_n(table.data() + Index(ids[i]) * n, n, to + Index(i) * n);
  }
  if (!pass.tape()) return Var(std::move(y));
  return pass.tape()->record("embedding", std::move(y), {}, [tokens, &table, n](Tensor dy) {
    if (!table.gradient().empty()) scatter(tokens, dy, table.gradient(), n);
    return Gradients{};
  });
}

}  // namespace weft::autograd
