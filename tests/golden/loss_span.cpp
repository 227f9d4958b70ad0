#include "layers/parts/span_head.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

core::Tokens tokens(const Case& golden, const std::string& array) {
  const auto ids = golden.integers(array);
  return {golden.shape(array), {ids.begin(), ids.end()}};
}

}  // namespace

void loss_span(Case& golden) {
  const core::Shape shape = golden.shape("in/h");
  layers::SpanHead head(shape[2], layers::Init::zeros());
  const GoldenParameters parameters(golden, head, {{"weight", {"Ws", {1, 0}}}});
  core::Tensor x({shape[0] * shape[1], shape[2]}), upstream(golden.shape("out"));
  std::ranges::copy(golden.numbers("in/h"), x.write().begin());
  std::ranges::copy(golden.numbers("grad_out"), upstream.write().begin());
  const core::Tokens documents = tokens(golden, "in/document"),
                     answers = tokens(golden, "in/answers");
  autograd::Tape tape;
  const autograd::Var h = tape.watch(x);
  const autograd::Var out = head.nats(h, documents, answers);
  golden.compare("out", out.value().read());
  std::vector<Real> best;
  for (const auto& choice : head.choose(x, documents, answers, golden.integer("longest"))) {
    best.push_back(choice.is_none() ? 0 : Real(choice.start));
    best.push_back(choice.is_none() ? 0 : Real(choice.end));
  }
  golden.compare("state/best", best);
  tape.sweep(out, upstream);
  golden.compare("grad/h", tape.gradient(h).read());
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
