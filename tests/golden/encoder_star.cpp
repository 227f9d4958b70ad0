#include "core/error.h"
#include "layers/star/star_stack.h"
#include "tests/golden/padded_rows.h"
#include "tests/golden/stacked_parameters.h"

namespace weft::golden {
namespace {

layers::StarSettings star_settings(const Case& golden) {
  const std::string ring = golden.text("ring");
  layers::StarSettings settings;
  settings.ring = ring == "cyclic" ? layers::StarRing::cyclic
                  : ring == "zero" ? layers::StarRing::zero
                                   : layers::StarRing::open;
  settings.norm =
      golden.text("norm") == "post" ? layers::StarNorm::post : layers::StarNorm::reference;
  settings.tie = golden.flag("tie");
  return settings;
}

/// "cycles.2.ring.keys_values.weight" is columns W .. of in/ring_Wqkv[2].
StackedPlacing placing_of(const std::string& name, Index width) {
  const std::size_t number = 7, after = name.find('.', number);
  const std::string rest = name.substr(after + 1),
                    part = rest.starts_with("ring") ? "ring" : "star";
  const std::string what = rest.substr(rest.find('.') + 1);
  const std::vector<std::pair<std::string, StackedPlacing>> known = {
      {"queries.weight", {"_Wqkv"}}, {"keys_values.weight", {"_Wqkv", 0, width}},
      {"queries.bias", {"_bqkv"}},   {"keys_values.bias", {"_bqkv", 0, width}},
      {"output.weight", {"_Wo"}},    {"output.bias", {"_bo"}},
      {"norm.weight", {"_gain"}},    {"norm.bias", {"_shift"}}};
  for (auto [key, placing] : known)
    if (key == what) {
      placing.array = part + placing.array;
      placing.layer = std::stoll(name.substr(number, after - number));
      return placing;
    }
  throw core::Error("encoder.star: no array for " + name);
}

}  // namespace

void encoder_star(Case& golden) {
  const Index batch = golden.shape("in/x")[0], width = golden.shape("in/x")[2];
  layers::StarStack star(
      {golden.integer("cycles"), width, golden.integer("heads"), 0, golden.number("norm_eps")},
      star_settings(golden));
  const StackedParameters parameters(
      golden, star, [width](const std::string& name) { return placing_of(name, width); });
  const layers::Sequences sequences = padded_sequences(golden, false);
  autograd::Tape tape;
  autograd::Journal journal;
  const autograd::Var in = tape.watch(rows_of(golden, "in/x"));
  const auto [h, s] = star.run(autograd::Pass(tape, core::Rng(0), journal), in, sequences, false);
  const core::Lengths ones = std::make_shared<const std::vector<Index>>(std::size_t(batch), 1);
  const autograd::Var out = autograd::join_rows(s, without_padding(h, sequences), ones);
  golden.compare("out", out.value().read());
  tape.sweep(out, rows_of(golden, "grad_out"));
  golden.compare("grad/x", tape.gradient(in).read());
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
