#include "autograd/ops.h"
#include "tests/golden/case.h"

namespace weft::golden {

void loss_logistic_mixture(Case& golden) {
  const core::Shape shape = golden.shape("in/theta");
  const auto fill = [&](core::Shape of, const std::string& array) {
    core::Tensor tensor(of);
    std::ranges::copy(golden.numbers(array), tensor.write().begin());
    return tensor;
  };
  autograd::Tape tape;
  const autograd::Var theta = tape.watch(fill(shape, "in/theta"));
  const core::Tokens values({shape[0]}, golden.integers("in/values"));
  const autograd::Var out =
      autograd::logistic_mixture(theta, values, 256, Real(golden.number("least_log_scale")));
  golden.compare("out", out.value().read());
  tape.sweep(out, fill({shape[0]}, "grad_out"));
  golden.compare("grad/theta", tape.gradient(theta).read());
}

}  // namespace weft::golden
