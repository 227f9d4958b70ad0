#include "autograd/ops.h"
#include "core/error.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// The parameter's value; its gradient is added to the parameter's own array.  Saves: nothing.
Var as_variable(const Pass& pass, const Parameter& parameter) {
  if (!pass.tape()) return Var(parameter.value());
  return pass.tape()->record("as_variable", parameter.value(), {}, [&parameter](Tensor dy) {
    if (!parameter.gradient().empty())
      core::simd().axpy(1, dy.data(), parameter.gradient().data(), dy.size());
    return Gradients{};
  });
}

/// The first rows of the parameter; their gradient is added to these rows.  Saves: nothing.
Var rows_as_variable(const Pass& pass, const Parameter& parameter, Index rows) {
  core::require(rows >= 0 && rows <= parameter.shape()[0], "rows_as_variable: ", rows, " rows of ",
                parameter.shape());
  const Tensor value = parameter.value().rows(0, rows);
  if (!pass.tape()) return Var(value);
  return pass.tape()->record("rows_as_variable", value, {}, [&parameter](Tensor dy) {
    if (!parameter.gradient().empty())
      core::simd().axpy(1, dy.data(), parameter.gradient().data(), dy.size());
    return Gradients{};
  });
}

}  // namespace weft::autograd
