#include "layers/parts/experts/expert_feed_forward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/arrays/matrix_vector.h"
#include "core/error.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

constexpr double router_deviation = 0.02;

/// The counts of the last step.
void keep_last(std::span<Real> value, std::span<const Real> statistics) {
  std::ranges::copy(statistics, value.begin());
}

/// y += factor * expert(x) for one token.  x, y: [W]
void add_expert(const ExpertWeights& w, Index expert, Real factor, const Real* x, Real* y) {
  Tensor h({w.hidden()}, 0), out({w.width()});
  Real *units = h.write().data(), *to = out.write().data();
  core::multiply_vector(w.in_of(expert), x, units);
  core::simd().bias_gelu(units, w.in_bias_of(expert), units, w.hidden());
  std::copy_n(w.out_bias_of(expert), w.width(), to);
  core::multiply_vector(w.out_of(expert), units, to);
  core::simd().axpy(factor, to, y, w.width());
}

}  // namespace

void ExpertSettings::fields(core::Fields& field) {
  field.integer("ff_experts", experts, "number of experts, feed-forwards of ff units each",
                core::between(1, 4096));
  field.integer("ff_choices", choices, "experts per token (1: Switch)", core::between(1, 64));
  field.number("ff_balance", balance,
               "weight of the loss for uneven use of experts, in every layer", core::at_least(0));
  field.number("ff_capacity", capacity,
               "most rows that an expert takes, as a multiple of an even share; other rows skip "
               "the layer; 0: no limit",
               core::at_least(0));
  field.when(choices > 1, "model.ff_choices of 2 or more", [&] {
    field.choice("ff_second", second,
                 "which second choices are kept in training: all, or random, with a probability "
                 "that grows with their gate",
                 {{"all", Second::all}, {"random", Second::random}});
    field.when("ff_second", {"random"}, [&] {
      field.number("ff_second_threshold", second_threshold,
                   "gate from which a second choice is always kept", core::between(1e-6, 1));
    });
  });
  field.number("ff_jitter", jitter,
               "in training the router's input is multiplied by 1 - this .. 1 + this",
               core::between(0, 1));
  if (choices > experts)
    field.problem("ff_choices",
                  core::message_of("a token cannot choose ", choices, " of ", experts, " experts"));
}

ExpertFeedForward::ExpertFeedForward(Index width, Index hidden, const ExpertSettings& settings,
                                     Init in, Init out)
    : settings_(settings),
      router_({settings.experts, width}, Init::normal(router_deviation)),
      in_({settings.experts, hidden, width}, in),
      in_bias_({settings.experts * hidden}, Init::zeros()),
      out_({settings.experts, width, hidden}, out),
      out_bias_({settings.experts * width}, Init::zeros()),
      use_(Tensor({settings.experts + 1}, 0), keep_last) {
  core::require(settings.choices >= 1 && settings.choices <= settings.experts,
                "experts: ", settings.choices, " choices among ", settings.experts, " experts");
}

ChoiceRule ExpertFeedForward::rule(const Pass& pass, Index rows) const {
  ChoiceRule rule{.choices = settings_.choices,
                  .gate = {settings_.choices > 1 && !settings_.raw_gates, settings_.gate_eps}};
  if (settings_.capacity > 0)
    rule.capacity =
        std::max<Index>(1, Index(std::ceil(settings_.capacity * double(settings_.choices * rows) /
                                           double(settings_.experts))));
  if (settings_.second == ExpertSettings::Second::random && pass.training())
    rule.second_threshold = settings_.second_threshold;
  return rule;
}

Var ExpertFeedForward::probabilities(const Pass& pass, const Var& x) const {
  return autograd::softmax(autograd::linear(autograd::jitter(pass, x, settings_.jitter), router_));
}

Var ExpertFeedForward::forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
  const Index rows = x.shape().rows();
  core::require(rows == sequences.batch * sequences.queries, "experts: ", rows, " rows for ",
                sequences.batch, " sequences of ", sequences.queries);
  const Var p = probabilities(pass, x);
  const auto choice = pass.decide("experts", [&] {
    const std::vector<Index> order = rows_in_order(sequences);
    const ChoiceRule own = rule(pass, Index(order.size()));
    std::vector<double> draws;
    if (own.second_threshold > 0)
      for (Index r = 0; r < rows; ++r)
        draws.push_back(pass.stream().fold("second").uniform(std::uint64_t(r)));
    return choose_experts(p.value(), own, order, draws);
  });
  propose_use(pass, *choice);
  const Var gates = expert_gates(p, choice, rule(pass, rows).gate);
  const Var y = expert_products(x, gates, choice, experts());
  if (settings_.balance == 0 || !pass.training()) return y;
  return autograd::penalise(pass, y, expert_balance(p, choice, settings_.balance));
}

Tensor ExpertFeedForward::step(const Tensor& x) const {
  return stacked_rows(x.shape()[0], x.shape()[1], [&](Index r) { return step_row(x.rows(r, 1)); });
}

Tensor ExpertFeedForward::step_row(const Tensor& x) const {
  const Tensor p = probabilities(Pass(), Var(x)).value();
  ChoiceRule alone = rule(Pass(), 1);
  alone.capacity = 0;
  const auto choice = std::make_shared<const ExpertChoice>(choose_experts(p, alone, {0}));
  const Tensor gates = expert_gates(Var(p), choice, alone.gate).value();
  Tensor y(x.shape(), 0);
  for (std::size_t c = 0; c < choice->expert.size(); ++c)
    add_expert(experts(), choice->expert[c], gates.data()[c], x.data(), y.write().data());
  return y;
}

void ExpertFeedForward::propose_use(const Pass& pass, const ExpertChoice& choice) const {
  Tensor counts({settings_.experts + 1});
  std::ranges::copy(choice.taken, counts.write().begin());
  counts.write().back() = Real(choice.lost);
  pass.propose(use_, std::move(counts));
}

Index ExpertFeedForward::weights() const {
  return settings_.choices * (in_.shape().size() + out_.shape().size()) / settings_.experts +
         router_.shape().size();
}

std::vector<autograd::Metric> ExpertFeedForward::metrics() const {
  const auto counts = use_.value().read().first(std::size_t(settings_.experts));
  const double taken = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double lost = double(use_.value().read().back());
  if (taken == 0) return {};
  double entropy = 0;
  for (const Real count : counts)
    if (count > 0) entropy -= double(count) / taken * std::log2(double(count) / taken);
  return {{"largest_expert", double(std::ranges::max(counts)) / taken},
          {"smallest_expert", double(std::ranges::min(counts)) / taken},
          {"entropy", entropy},
          {"lost", lost / (taken + lost)}};
}

void ExpertFeedForward::visit(Inventory& inventory) {
  inventory.add("router.weight", router_);
  inventory.add("in.weight", in_);
  inventory.add("in.bias", in_bias_);
  inventory.add("out.weight", out_);
  inventory.add("out.bias", out_bias_);
  inventory.add("use", use_);
  inventory.add_hooks("use", {[] {}, [this] { return metrics(); }});
}

}  // namespace weft::layers
