#include "autograd/ops.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

/// weight alone, [F, C, in, out].
struct Kernel {
  autograd::Parameter weight;
  void visit(autograd::Inventory& inventory) { inventory.add("weight", weight); }
};

/// From [B, S, T, M] to [B, T, S, M]; the same way back.
const std::vector<Index> tokens_first{0, 2, 1, 3};

}  // namespace

void conv_modules(Case& golden) {
  const core::Shape w = golden.shape("in/W"), plane = golden.shape("in/x");
  Kernel kernel{{{w[2], w[3], w[1], w[0]}, autograd::Init::zeros()}};
  GoldenParameters parameters(golden, kernel, {{"weight", {"W", {2, 3, 1, 0}}}});
  const auto tokens = [&](const std::string& array) {
    core::Tensor x({plane[0] * plane[2], plane[1] * plane[3]});
    std::ranges::copy(by_axes(golden.numbers(array), plane, tokens_first), x.write().begin());
    return x;
  };
  autograd::Tape tape;
  const autograd::Var x = tape.watch(tokens("in/x"));
  const autograd::Var out = autograd::module_convolution(x, kernel.weight, nullptr, plane[2]);
  golden.compare("out", back_by_axes(out.value().read(), plane, tokens_first));
  tape.sweep(out, tokens("grad_out"));
  golden.compare("grad/x", back_by_axes(tape.gradient(x).read(), plane, tokens_first));
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
