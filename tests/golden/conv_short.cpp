#include "layers/attention/fittings/short_convolution.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {

/// As a whole pass, and token by token for the output and the tail.
void conv_short(Case& golden) {
  const core::Shape shape = golden.shape("in/x");
  const Index columns = shape[1] * shape[3], length = shape[2];
  layers::ShortConvolution part({{"w", columns}}, golden.shape("in/w").back(), true);
  GoldenParameters parameters(golden, part, {{"w", "w"}, {"w_bias", "b"}});
  autograd::Tape tape;
  const autograd::Var x = tape.watch(by_token(golden.numbers("in/x"), shape));
  const autograd::Var out = part.forward({{x, 0}}, length)[0].matrix;
  golden.compare("out", by_case(out.value(), shape));
  tape.sweep(out, by_token(golden.numbers("grad_out"), shape));
  golden.compare("grad/x", by_case(tape.gradient(x), shape));
  parameters.compare_gradients(golden);

  const core::Shape tail = golden.shape("state/tail");
  core::Tensor stepped(x.shape()), left({shape[0] * tail[2], columns});
  for (Index b = 0; b < shape[0]; ++b) {
    std::vector<Real> past(std::size_t(part.past_size()), Real(0));
    for (Index t = 0; t < length; ++t) {
      const auto row = std::size_t((b * length + t) * columns), n = std::size_t(columns);
      part.step({x.value().read().subspan(row, n)}, past, stepped.write().subspan(row, n));
    }
    std::ranges::copy(past, left.write().begin() + b * part.past_size());
  }
  golden.compare("out", by_case(stepped, shape));
  golden.compare("state/tail", by_case(left, tail));
}

}  // namespace weft::golden
