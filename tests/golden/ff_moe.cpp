#include "core/error.h"
#include "layers/parts/experts/expert_feed_forward.h"
#include "tests/golden/golden_parameters.h"
#include "tests/golden/padded_rows.h"

namespace weft::golden {
namespace {

/// A capacity factor by which that many rows find `capacity` places at every expert.
double capacity_factor(double capacity, double experts, double choices, double rows) {
  return capacity > 0 ? (capacity - 0.5) * experts / (choices * rows) : 0;
}

void compare_choice(Case& golden, const layers::ExpertChoice& choice) {
  std::vector<Real> experts, taken(choice.taken.begin(), choice.taken.end());
  for (std::size_t i = 0; i < choice.expert.size(); ++i)
    experts.push_back(Real(choice.place[i] < 0 ? -1 : choice.expert[i]));
  golden.compare("state/expert", experts);
  golden.compare("state/tokens", taken);
}

}  // namespace

void ff_moe(Case& golden) {
  const core::Shape w1 = golden.shape("in/W1");
  const layers::Sequences rows = single_rows(golden);
  const std::vector<Index> order = layers::rows_in_order(rows);
  const Index choices = golden.integer("top_k");
  const double threshold = golden.number("threshold");
  layers::ExpertSettings settings{
      .experts = w1[0],
      .choices = choices,
      .balance = golden.number("balance"),
      .capacity = capacity_factor(golden.number("capacity"), double(w1[0]), double(choices),
                                  double(order.size())),
      .second = threshold > 0 ? layers::ExpertSettings::Second::random
                              : layers::ExpertSettings::Second::all,
      .second_threshold = threshold,
      .raw_gates = !golden.flag("normalise"),
      .gate_eps = golden.number("gate_eps")};
  core::require(choices > 1 || settings.raw_gates,
                "ff.moe: gates of one choice are not normalised");
  layers::ExpertFeedForward part(w1[1], w1[2], settings, layers::Init::zeros(),
                                 layers::Init::zeros());
  GoldenParameters parameters(golden, part,
                              {{"router.weight", {"Wg", {1, 0}}},
                               {"in.weight", {"W1", {0, 2, 1}}},
                               {"in.bias", "b1"},
                               {"out.weight", {"W2", {0, 2, 1}}},
                               {"out.bias", "b2"}});
  core::Tensor x(golden.shape("in/x")), upstream(golden.shape("out"));
  std::ranges::copy(golden.numbers("in/x"), x.write().begin());
  std::ranges::copy(golden.numbers("grad_out"), upstream.write().begin());
  autograd::Tape tape;
  autograd::Journal journal;
  const autograd::Pass pass(tape, core::Rng(0), journal);
  const autograd::Var in = tape.watch(x);
  const auto draws = threshold > 0 ? golden.numbers("in/uniform") : std::vector<double>();
  // Decided here already, with the case's own draws.
  const auto choice = pass.decide("experts", [&] {
    return layers::choose_experts(part.probabilities(pass, autograd::Var(x)).value(),
                                  part.rule(pass, Index(order.size())), order, draws);
  });
  compare_choice(golden, *choice);
  const autograd::Var out = part.forward(pass, in, rows);
  golden.compare("out", out.value().read());
  const autograd::Var charged = autograd::penalties(pass);
  if (charged.value().size() > 0) golden.compare("state/loss", charged.value().read());
  // The charges join a loss of their own weight 1: sum(out upstream) + charges.
  journal.penalty_gradient = 1;
  tape.sweep(out, upstream);
  golden.compare("grad/x", tape.gradient(in).read());
  parameters.compare_gradients(golden);
}

}  // namespace weft::golden
