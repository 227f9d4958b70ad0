#include "core/error.h"
#include "layers/attention/clusters/commitment.h"
#include "layers/attention/clusters/routing_choice.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {
namespace {

tests::Settings routing_settings(const Case& golden) {
  const double self = golden.number("self_score");
  core::require(self == 0 || self <= -1e4, "a self score of ", self,
                " is neither 0 nor a fallback");
  const bool l2 = golden.text("normalise") == "l2", paper = golden.text("mode") == "paper";
  tests::Settings settings{{"mode", golden.text("mode")},
                           {"clusters", std::to_string(golden.shape("in/centroids")[1])},
                           {"chunk", golden.integer("window")},
                           {"shared", golden.flag("shared_qk")},
                           {"normalise", std::string(l2 ? "l2" : "layernorm")},
                           {"scale", golden.number("scale")},
                           {"decay", golden.number("decay")},
                           {"self", std::string(self == 0 ? "scored" : "fallback")}};
  if (l2) settings["unit_keys"] = golden.flag("key_l2");
  if (paper) settings["count_eps"] = golden.number("count_eps");
  return settings;
}

/// The mechanism's only state, [H, K, D + 2].
autograd::State& state_of(layers::Attention& attention) {
  autograd::Inventory inventory;
  attention.visit(inventory);
  return *inventory.states().at(0).state;
}

void put_centroids(const Case& golden, std::span<Real> rows) {
  const core::Shape shape = golden.shape("in/centroids");
  const std::vector<double> given = golden.numbers("in/centroids");
  const Index width = shape[2];
  for (Index i = 0; i < shape[0] * shape[1]; ++i) {
    Real* row = rows.data() + i * (width + 2);
    for (Index d = 0; d < width; ++d) row[d] = Real(given[std::size_t(i * width + d)]);
    row[width] = row[width + 1] = 0;
  }
}

/// Next less old, of the case's arrays and of weft's.
void compare_moves(Case& golden, std::span<const Real> before, std::span<const Real> after) {
  const core::Shape shape = golden.shape("in/centroids");
  const std::vector<double> old = golden.numbers("in/centroids"),
                            next = golden.numbers("state/centroids_next");
  const Index width = shape[2];
  std::vector<Real> moved;
  std::vector<double> expected;
  for (Index i = 0; i < shape[0] * shape[1]; ++i)
    for (Index d = 0; d < width; ++d) {
      moved.push_back(after[std::size_t(i * (width + 2) + d)] -
                      before[std::size_t(i * (width + 2) + d)]);
      expected.push_back(next[std::size_t(i * width + d)] - old[std::size_t(i * width + d)]);
    }
  golden.compare("state/centroids_next", moved, expected);
}

/// The loss by the clusters that the pass decided, from matrices [B T, H D].
Real commitment_of(const Case& golden, const layers::RoutingChoice& choice) {
  const core::Shape shape = golden.shape("in/centroids");
  const bool l2 = golden.text("normalise") == "l2";
  layers::Commitment loss{
      .weight = golden.number("commitment"),
      .form = l2 ? layers::HeadForm{layers::HeadForm::Law::unit, 0}
                 : layers::HeadForm{layers::HeadForm::Law::standard, Real(1e-6)},
      .centres = core::Tensor(shape),
      .sequences = {},
      .parts = {}};
  std::ranges::copy(golden.numbers("in/centroids"), loss.centres.write().begin());
  for (const std::string name : {"in/q", "in/k"}) {
    if (!golden.has(name)) continue;
    const core::Shape own = golden.shape(name);
    loss.sequences.batch = own[0];
    loss.add({autograd::Var(by_token(golden.numbers(name), own)), 0},
             std::make_shared<const std::vector<std::uint16_t>>(name == "in/q" ? choice.queries
                                                                               : choice.keys));
  }
  return core::scalar(loss.loss().value());
}

}  // namespace

void attention_routing(Case& golden) {
  const bool causal = golden.flag("causal");
  const auto attention =
      make_attention(golden, "routing", golden.shape("in/q"), causal, routing_settings(golden));
  autograd::State& state = state_of(*attention);
  ReplayHooks hooks;
  hooks.before = [&](const autograd::Pass&, autograd::Journal&) {
    put_centroids(golden, state.writable());
  };
  hooks.after = [&](const autograd::Pass& pass, autograd::Journal& journal) {
    const std::vector<Real> before(state.value().read().begin(), state.value().read().end());
    if (golden.has("state/commitment_loss")) {
      const auto choice = std::any_cast<std::shared_ptr<const layers::RoutingChoice>>(
          *journal.find(pass.stream().fold("clusters").key()));
      const Real loss = commitment_of(golden, *choice);
      golden.compare("state/commitment_loss", {&loss, 1});
    }
    journal.commit();
    compare_moves(golden, before, state.value().read());
  };
  replay_attention(golden, *attention, causal, hooks);
}

}  // namespace weft::golden
