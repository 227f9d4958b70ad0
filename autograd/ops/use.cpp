#include "autograd/ops.h"
#include "core/error.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// The parameter's value; its gradient is added to the parameter's own array.  Saves: nothing.
Var use(const Pass& pass, const Parameter& parameter) {
  if (!pass.tape()) return Var(parameter.value());
  return pass.tape()->record("use", parameter.value(), {}, [&parameter](Tensor dy) {
    if (!parameter.gradient().empty())
      core::simd().axpy(1, dy.data(), parameter.gradient().data(), dy.size());
    return Gradients{};
  });
}

/// The first rows of the parameter; their gradient is added to these rows.  Saves: nothing.
Var use_rows(const Pass& pass, const Parameter& parameter, Index rows) {
  core::require(rows >= 0 && rows <= parameter.shape()[0], "use_rows: ", rows, " rows of ",
                parameter.shape());
  const Tensor value = parameter.value().rows(0, rows);
  if (!pass.tape()) return Var(value);
  return pass.tape()->record("use_rows", value, {}, [&parameter](Tensor dy) {
    if (!parameter.gradient().empty())
      core::simd().axpy(1, dy.data(), parameter.gradient().data(), dy.size());
    return Gradients{};
  });
}

}  // namespace weft::autograd
