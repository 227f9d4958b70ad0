#include "layers/attention/fittings/gates.h"
#include "layers/attention/pattern/attention.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {

void attention_differential(Case& golden) {
  const core::Shape q = golden.shape("in/q"), k = golden.shape("in/k"), out = golden.shape("out");
  const core::Shape shares{out[0], out[1], out[2], 1};
  const layers::PatternAttention attention({.heads = q[1], .head_width = q[3], .kv_heads = k[1]},
                                           {layers::full_pattern()},
                                           {.scale = golden.number("scale"), .normaliser = {}});
  autograd::Tape tape;
  autograd::Journal journal;
  const auto watch = [&](const std::string& name, const core::Shape& shape) {
    return tape.watch(by_token(golden.numbers("in/" + name), shape));
  };
  const autograd::Var x[] = {watch("q", q), watch("k", k), watch("v", k), watch("share", shares)};
  const layers::Sequences sequences = layers::Sequences::self(q[0], q[2], true);
  const autograd::Var both = attention.forward(autograd::Pass(tape, core::Rng(0), journal),
                                               {{{x[0], 0}, {x[1], 0}, {x[2], 0}}, {}, sequences});
  const autograd::Var y = layers::subtract_gated(both, x[3]);
  golden.compare("out", by_case(y.value(), out));
  tape.sweep(y, by_token(golden.numbers("grad_out"), out));
  golden.compare("grad/q", by_case(tape.gradient(x[0]), q));
  golden.compare("grad/k", by_case(tape.gradient(x[1]), k));
  golden.compare("grad/v", by_case(tape.gradient(x[2]), k));
  golden.compare("grad/share", by_case(tape.gradient(x[3]), shares));
}

}  // namespace weft::golden
