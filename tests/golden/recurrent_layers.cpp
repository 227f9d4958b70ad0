#include "core/error.h"
#include "layers/attention/registry.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;

const std::vector<Index> flipped{1, 0}, heads_first{1, 2, 0};

/// A mechanism that repeats layer.NAME, its settings, and what its parameters are called there.
struct Layer {
  std::string kind;
  tests::Settings settings;
  GoldenParameters::Placings placings;
};

/// Settings with the number that the case gives, which may be stored as an integer.
Layer layer_of(const Case& golden) {
  const std::string kind = golden.text("op").substr(std::string("layer.").size());
  const GoldenParameters::Placings convolved{
      {"conv_q", "conv_q"}, {"conv_k", "conv_k"}, {"conv_v", "conv_v"}};
  const auto with = [](GoldenParameters::Placings all, const GoldenParameters::Placings& more) {
    all.insert(more.begin(), more.end());
    return all;
  };
  const Placing matrix_b{"b", flipped}, matrix_gate{"gate", heads_first};
  if (kind == "retention") return {kind, {}, {{"gate.weight", matrix_gate}, {"gain", "gain"}}};
  if (kind == "gla")
    return {kind,
            {{"rank", golden.shape("in/g1").back()},
             {"temperature", golden.number("temperature")},
             {"floor", golden.number("floor")}},
            {{"decay.down", {"g1", flipped}},
             {"decay.up", {"g2", heads_first}},
             {"decay.bias", "g_bias"},
             {"gate.weight", matrix_gate},
             {"gain", "gain"}}};
  if (kind == "deltanet" || kind == "gated_deltanet") {
    Layer layer{kind,
                {{"negative", golden.flag("negative")}, {"conv", golden.integer("taps")}},
                with(convolved, {{"strength.weight", matrix_b}, {"gain", "gain"}})};
    if (kind == "gated_deltanet")
      layer.placings.merge(GoldenParameters::Placings{{"fading.weight", {"a", flipped}},
                                                      {"fading.bias", "dt_bias"},
                                                      {"log_rate", "A_log"},
                                                      {"gate.weight", matrix_gate}});
    return layer;
  }
  return {"kda",
          {{"rank", golden.shape("in/f1").back()},
           {"floor", golden.number("floor")},
           {"conv", golden.integer("taps")}},
          with(convolved, {{"strength.weight", matrix_b},
                           {"fading.down", {"f1", flipped}},
                           {"fading.up", {"f2", heads_first}},
                           {"fading.bias", "dt_bias"},
                           {"log_rate", "A_log"},
                           {"gate.down", {"g1", flipped}},
                           {"gate.up", {"g2", heads_first}},
                           {"gate.bias", "g_bias"},
                           {"gain", "gain"}})};
}

std::unique_ptr<layers::Attention> make_layer(const Case& golden, const Layer& layer) {
  const core::Shape x = golden.shape("in/x"), v = golden.shape("in/v");
  const layers::AttentionSite site{
      .width = x[2], .heads = v[1], .head_width = v[3], .length = v[2], .causal = true};
  tests::GivenFields fields(layer.settings);
  const auto make = layers::find_attention(layer.kind)->configure(fields, site).make;
  for (const auto& [key, problem] : fields.problems())
    throw core::Error(core::message_of("setting ", key, ": ", problem));
  return make(site);
}

/// Token by token, each sequence by itself.
Tensor decode(const layers::Attention& attention, const std::vector<Var>& blocks, const Var& x,
              const core::Shape& shape) {
  const Index length = shape[2], columns = shape[1] * shape[3];
  Tensor out({shape[0] * length, columns});
  for (Index b = 0; b < shape[0]; ++b) {
    const auto state = attention.begin();
    for (Index t = 0; t < length; ++t) {
      const Index row = b * length + t;
      layers::StepInput step{{}, x.value().rows(row, 1).read(), t};
      for (const Var& block : blocks) step.blocks.push_back(block.value().rows(row, 1).read());
      attention.step(*state, step,
                     out.write().subspan(std::size_t(row * columns), std::size_t(columns)));
    }
  }
  return out;
}

}  // namespace

/// A mechanism with its gates and fittings, up to the layer's output projection: a whole pass with
/// its gradients, and decoding.
void recurrent_layers(Case& golden) {
  const Layer layer = layer_of(golden);
  const auto attention = make_layer(golden, layer);
  GoldenParameters parameters(golden, *attention, layer.placings);
  const core::Shape shape = golden.shape("out"), wide = golden.shape("in/x");
  autograd::Tape tape;
  autograd::Journal journal;
  Tensor rows({wide[0] * wide[1], wide[2]});
  std::ranges::copy(golden.numbers("in/x"), rows.write().begin());
  const Var x = tape.watch(rows);
  layers::AttentionInput input{{}, x, layers::Sequences::self(wide[0], wide[1], true)};
  std::vector<Var> blocks;
  for (const std::string name : {"q", "k", "v"}) {
    blocks.push_back(
        tape.watch(by_token(golden.numbers("in/" + name), golden.shape("in/" + name))));
    input.blocks.push_back({blocks.back(), 0});
  }
  const Var out = attention->forward(autograd::Pass(tape, core::Rng(0), journal), input);
  golden.compare("out", by_case(out.value(), shape));
  golden.compare("out", by_case(decode(*attention, blocks, x, shape), shape));
  tape.sweep(out, by_token(golden.numbers("grad_out"), shape));
  golden.compare("grad/x", tape.gradient(x).read());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string array = std::string("grad/") + "qkv"[i];
    golden.compare(array, by_case(tape.gradient(blocks[i]), golden.shape(array)));
  }
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
