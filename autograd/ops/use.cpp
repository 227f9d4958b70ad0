#include "autograd/ops.h"
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

}  // namespace weft::autograd
