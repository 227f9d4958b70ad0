#include "core/error.h"
#include "layers/parts/sparse_feed_forward.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {

void ff_sparse(Case& golden) {
  core::require(!golden.flag("noise"), "ff.sparse is repeated without noise only");
  const core::Shape w1 = golden.shape("in/W1");
  layers::SparseFeedForward part(w1[0], w1[1],
                                 {.block = golden.integer("block"),
                                  .rank = golden.shape("in/C1").back(),
                                  .temperature = 0,
                                  .hard = golden.flag("hard") ? 1.0 : 0.0,
                                  .mask_inside = golden.flag("mask_inside")});
  const std::vector<Index> flipped{1, 0};
  GoldenParameters parameters(golden, part,
                              {{"in.weight", {"W1", flipped}},
                               {"down.weight", {"C1", flipped}},
                               {"up.weight", {"C2", flipped}},
                               {"up.bias", "bc"},
                               {"out.weight", {"W2", flipped}},
                               {"out.bias", "b2"}});
  core::Tensor x(golden.shape("in/x")), upstream(golden.shape("out"));
  std::ranges::copy(golden.numbers("in/x"), x.write().begin());
  std::ranges::copy(golden.numbers("grad_out"), upstream.write().begin());
  autograd::Tape tape;
  autograd::Journal journal;
  const autograd::Var in = tape.watch(x);
  const autograd::Var out = part.forward(autograd::Pass(tape, core::Rng(0), journal), in,
                                         layers::Sequences::self(1, x.shape().rows(), true));
  golden.compare("out", out.value().read());
  tape.sweep(out, upstream);
  golden.compare("grad/x", tape.gradient(in).read());
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
