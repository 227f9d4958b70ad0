#include "tests/golden/attention_replay.h"

namespace weft::golden {
namespace {

/// The identity matrix once for each of `times` sequences: [times n, n]
core::Tensor identities(Index times, Index n) {
  core::Tensor all({times * n, n}, Real(0));
  for (Index row = 0; row < times * n; ++row) all.write()[std::size_t(row * n + row % n)] = 1;
  return all;
}

core::Tensor matrix(const std::vector<double>& numbers, Index rows, Index columns) {
  core::Tensor tensor({rows, columns});
  std::ranges::copy(numbers, tensor.write().begin());
  return tensor;
}

}  // namespace

/// Each row of x is one query of dense attention whose keys and values are unit vectors: x itself
/// are the scores, and the weights come out.
void entmax(Case& golden) {
  const core::Shape shape = golden.shape("in/x");
  const Index n = shape.back(), rows = shape.size() / n;
  const auto attention =
      make_attention(golden, "dense", {rows, 1, 1, n}, false,
                     {{"scale", 1.0}, {"normaliser", "entmax"}, {"alpha", golden.number("alpha")}});
  autograd::Tape tape;
  autograd::Journal journal;
  const autograd::Var x = tape.watch(matrix(golden.numbers("in/x"), rows, n));
  const autograd::Var units(identities(rows, n));
  const autograd::Var out =
      attention->forward(autograd::Pass(tape, core::Rng(0), journal),
                         {{{x, 0}, {units, 0}, {units, 0}},
                          {},
                          {.batch = rows, .queries = 1, .keys = n, .causal = false}});
  golden.compare("out", out.value().read());
  tape.sweep(out, matrix(golden.numbers("grad_out"), rows, n));
  golden.compare("grad/x", tape.gradient(x).read());
}

}  // namespace weft::golden
