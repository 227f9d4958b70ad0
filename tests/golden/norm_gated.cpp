#include "layers/attention/fittings/gated_norm.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

struct Gain {
  autograd::Parameter gain;
  void visit(autograd::Inventory& inventory) { inventory.add("gain", gain); }
};

}  // namespace

void norm_gated(Case& golden) {
  using Activation = layers::GatedNormForm::Activation;
  const core::Shape shape = golden.shape("in/o");
  const layers::GatedNormForm form{
      golden.text("activation") == "silu" ? Activation::silu : Activation::sigmoid,
      golden.text("order") == "gate_first", Real(golden.number("eps"))};
  Gain part{{{golden.shape("in/gain").size()}, autograd::Init::zeros()}};
  GoldenParameters parameters(golden, part, {{"gain", "gain"}});
  autograd::Tape tape;
  const autograd::Var o = tape.watch(by_token(golden.numbers("in/o"), shape));
  const autograd::Var gate = tape.watch(by_token(golden.numbers("in/gate"), shape));
  const autograd::Var out = layers::gated_norm(form, o, gate, part.gain);
  golden.compare("out", by_case(out.value(), shape));
  tape.sweep(out, by_token(golden.numbers("grad_out"), shape));
  golden.compare("grad/o", by_case(tape.gradient(o), shape));
  golden.compare("grad/gate", by_case(tape.gradient(gate), shape));
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
