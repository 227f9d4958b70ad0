#include "layers/attention/fittings/head_norm.h"
#include "layers/attention/pattern/attention.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;

/// Heads that share keys, over a window and the first tokens, with sinks and norms where the case
/// has them.
struct Grouped {
  explicit Grouped(const Case& golden)
      : q(golden.shape("in/q")),
        k(golden.shape("in/k")),
        normed(golden.has("in/q_gain")),
        attention(site(), {pattern(golden)}, scores(golden)) {}

  layers::AttentionSite site() const {
    return {.heads = q[1], .head_width = q[3], .kv_heads = k[1]};
  }
  static layers::ScoreSettings scores(const Case& golden) {
    layers::ScoreSettings scores{.scale = golden.number("scale"), .normaliser = {}};
    scores.normaliser.sink =
        golden.has("in/sinks") ? layers::SinkKind::learned : layers::SinkKind::none;
    return scores;
  }
  static layers::Pattern pattern(const Case& golden) {
    const Index window = golden.integer("window");
    if (window == 0) return layers::full_pattern();
    layers::ScoreSettings first;
    first.first = golden.integer("first");
    return first.with_first(layers::band_pattern(window - 1, 0));
  }

  void visit(autograd::Inventory& inventory) {
    attention.visit(inventory);
    if (!normed) return;
    inventory.add("q_gain", q_gain);
    inventory.add("k_gain", k_gain);
  }
  layers::HeadBlock norm(const Var& x, Index heads, const autograd::Parameter& gain,
                         Real eps) const {
    return {normed ? layers::norm_heads({x, 0}, heads, gain, eps) : x, 0};
  }

  core::Shape q, k;
  bool normed;
  layers::PatternAttention attention;
  autograd::Parameter q_gain{{q[3]}, autograd::Init::ones()};
  autograd::Parameter k_gain{{q[3]}, autograd::Init::ones()};
};

}  // namespace

void attention_grouped(Case& golden) {
  Grouped part(golden);
  GoldenParameters parameters(golden, part,
                              {{"sinks", "sinks"}, {"q_gain", "q_gain"}, {"k_gain", "k_gain"}});
  const Real eps = part.normed ? Real(golden.number("norm_eps")) : 0;
  autograd::Tape tape;
  autograd::Journal journal;
  const auto watch = [&](const std::string& name) {
    return tape.watch(by_token(golden.numbers("in/" + name), golden.shape("in/" + name)));
  };
  const Var q = watch("q"), k = watch("k"), v = watch("v");
  const std::vector<layers::HeadBlock> blocks{
      part.norm(q, part.q[1], part.q_gain, eps), part.norm(k, part.k[1], part.k_gain, eps), {v, 0}};
  const layers::Sequences sequences = layers::Sequences::self(part.q[0], part.q[2], true);
  const Var out =
      part.attention.forward(autograd::Pass(tape, core::Rng(0), journal), {blocks, {}, sequences});
  golden.compare("out", by_case(out.value(), part.q));
  golden.compare("out", by_case(decode(part.attention, blocks, part.q), part.q));
  tape.sweep(out, by_token(golden.numbers("grad_out"), part.q));
  golden.compare("grad/q", by_case(tape.gradient(q), part.q));
  golden.compare("grad/k", by_case(tape.gradient(k), part.k));
  golden.compare("grad/v", by_case(tape.gradient(v), part.k));
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
