#include "layers/parts/multiplicative.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {

void dense_multiplicative(Case& golden) {
  const core::Shape d = golden.shape("in/D"), e = golden.shape("in/E");
  layers::Multiplicative part(d[0], d[1], e[1]);
  const std::vector<Index> flipped{1, 0};
  GoldenParameters parameters(golden, part,
                              {{"modules", {"D", flipped}}, {"columns", {"E", flipped}}});
  const Index rows = golden.shape("in/x").rows();
  core::Tensor x({rows, d[0]}), upstream({rows, d[1] * e[1]});
  std::ranges::copy(golden.numbers("in/x"), x.write().begin());
  std::ranges::copy(golden.numbers("grad_out"), upstream.write().begin());
  autograd::Tape tape;
  autograd::Journal journal;
  const autograd::Var in = tape.watch(x);
  const autograd::Var out = part.forward(autograd::Pass(tape, core::Rng(0), journal), in);
  golden.compare("out", out.value().read());
  tape.sweep(out, upstream);
  golden.compare("grad/x", tape.gradient(in).read());
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
