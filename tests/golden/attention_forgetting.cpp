#include "layers/attention/pattern/attention.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {

/// As a whole pass, and token by token from the sums of decays.
void attention_forgetting(Case& golden) {
  const core::Shape q = golden.shape("in/q"), k = golden.shape("in/k");
  const core::Shape decays{q[0], q[1], q[2], 1};
  const layers::PatternAttention attention({.heads = q[1], .head_width = q[3], .kv_heads = k[1]},
                                           {layers::full_pattern()},
                                           {.scale = golden.number("scale"), .normaliser = {}});
  autograd::Tape tape;
  autograd::Journal journal;
  const auto watch = [&](const std::string& name, const core::Shape& shape) {
    return tape.watch(by_token(golden.numbers("in/" + name), shape));
  };
  const autograd::Var x[] = {watch("q", q), watch("k", k), watch("v", k), watch("decay", decays)};
  const layers::Sequences sequences = layers::Sequences::self(q[0], q[2], true);
  const autograd::Var out =
      attention.attend(autograd::Pass(tape, core::Rng(0), journal),
                       {{{x[0], 0}, {x[1], 0}, {x[2], 0}}, {}, sequences}, x[3]);
  golden.compare("out", by_case(out.value(), q));
  tape.sweep(out, by_token(golden.numbers("grad_out"), q));
  golden.compare("grad/q", by_case(tape.gradient(x[0]), q));
  golden.compare("grad/k", by_case(tape.gradient(x[1]), k));
  golden.compare("grad/v", by_case(tape.gradient(x[2]), k));
  golden.compare("grad/decay", by_case(tape.gradient(x[3]), decays));

  const Index length = q[2], columns = q[1] * q[3];
  core::Tensor stepped({q[0] * length, columns});
  for (Index b = 0; b < q[0]; ++b) {
    const auto state = attention.begin();
    std::vector<double> sums;
    for (Index t = 0; t < length; ++t) {
      layers::StepInput step{{}, {}, t};
      for (std::size_t i = 0; i < 3; ++i)
        step.blocks.push_back(x[i].value().rows(b * length + t, 1).read());
      for (const Real f : x[3].value().rows(b * length + t, 1).read())
        sums.push_back((t > 0 ? sums[sums.size() - std::size_t(q[1])] : 0) + double(f));
      attention.step(
          *state, step,
          stepped.write().subspan(std::size_t((b * length + t) * columns), std::size_t(columns)),
          sums);
    }
  }
  golden.compare("out", by_case(stepped, q));
}

}  // namespace weft::golden
