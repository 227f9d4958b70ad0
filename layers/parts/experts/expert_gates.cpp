#include "core/error.h"
#include "layers/parts/experts/expert_ops.h"

namespace weft::layers {
namespace {

/// Of one row: the experts that it chose, none in padding, and what the gates are divided by.
struct RowGates {
  std::span<const std::int32_t> chosen;
  Real divisor;
};

RowGates gates_of(const ExpertChoice& choice, const GateRule& rule, const Real* p, Index row) {
  const std::span<const std::int32_t> chosen =
      std::span(choice.expert)
          .subspan(std::size_t(row * choice.choices), std::size_t(choice.choices));
  if (chosen[0] < 0) return {{}, 1};
  if (!rule.normalise) return {chosen, 1};
  Real sum = Real(rule.eps);
  for (const std::int32_t e : chosen) sum += p[e];
  return {chosen, sum};
}

}  // namespace

/// gate = p / s with s = 1, or the sum of the row's chosen p plus eps.
/// dp = dgate / s, less (sum of dgate p) / s² for each chosen one where s is the sum.
/// Saves: the probabilities and the choice.
Var expert_gates(const Var& probabilities, const SharedChoice& choice, const GateRule& rule) {
  const Index rows = probabilities.shape().rows(), experts = probabilities.shape().back();
  const Index k = choice->choices;
  core::require(Index(choice->expert.size()) == rows * k, "expert_gates: ", choice->expert.size(),
                " choices for ", rows, " rows of ", k);
  Tensor gates({rows, k}, 0);
  Real* to = gates.write().data();
  for (Index r = 0; r < rows; ++r) {
    const Real* p = probabilities.value().data() + r * experts;
    const auto [chosen, divisor] = gates_of(*choice, rule, p, r);
    for (std::size_t c = 0; c < chosen.size(); ++c) to[r * k + Index(c)] = p[chosen[c]] / divisor;
  }
  return autograd::record(
      "expert_gates", std::move(gates), {probabilities},
      [saved = probabilities.value(), choice, rule, rows, experts, k](Tensor dy) {
        Tensor dp(saved.shape(), 0);
        Real* d = dp.write().data();
        for (Index r = 0; r < rows; ++r) {
          const Real *p = saved.data() + r * experts, *dg = dy.data() + r * k;
          const auto [chosen, divisor] = gates_of(*choice, rule, p, r);
          Real shared = 0;
          if (rule.normalise)
            for (std::size_t c = 0; c < chosen.size(); ++c) shared += dg[c] * p[chosen[c]];
          for (std::size_t c = 0; c < chosen.size(); ++c)
            d[r * experts + chosen[c]] = (dg[c] - shared / divisor) / divisor;
        }
        return autograd::Gradients{std::move(dp)};
      });
}

/// y = price E sum over experts of f m, f the constant share of first choices and m the mean of p
/// over real rows.
/// dp = dy price E f / rows in real rows, 0 in padding.  Saves: the choice.
Var expert_balance(const Var& probabilities, const SharedChoice& choice, double price) {
  const Index rows = probabilities.shape().rows(), experts = probabilities.shape().back();
  core::require(Index(choice->expert.size()) == rows * choice->choices,
                "expert_balance: ", choice->expert.size(), " choices for ", rows, " rows");
  std::vector<Real> slope(std::size_t(experts), 0);  // of each probability
  const double real = double(std::max<Index>(choice->rows, 1));
  for (std::size_t e = 0; e < slope.size(); ++e)
    slope[e] = Real(price * double(experts) * double(choice->first[e]) / (real * real));
  const auto is_real = [choice](Index row) {
    return choice->expert[std::size_t(row * choice->choices)] >= 0;
  };
  double total = 0;
  for (Index r = 0; r < rows; ++r)
    if (is_real(r))
      for (Index e = 0; e < experts; ++e)
        total +=
            double(slope[std::size_t(e)]) * double(probabilities.value().data()[r * experts + e]);
  return autograd::record("expert_balance", Tensor({1}, Real(total)), {probabilities},
                          [slope, is_real, rows, experts](Tensor dy) {
                            Tensor dp({rows, experts}, 0);
                            const Real up = core::scalar(dy);
                            Real* d = dp.write().data();
                            for (Index r = 0; r < rows; ++r)
                              if (is_real(r))
                                for (Index e = 0; e < experts; ++e)
                                  d[r * experts + e] = up * slope[std::size_t(e)];
                            return autograd::Gradients{std::move(dp)};
                          });
}

}  // namespace weft::layers
