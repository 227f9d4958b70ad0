#include "layers/universal/halting.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace weft::layers {
namespace {

double logistic(Real x) { return 1 / (1 + std::exp(-double(x))); }

void replace(std::span<Real> value, std::span<const Real> statistics) {
  std::ranges::copy(statistics, value.begin());
}

Init constant(double value) { return {Init::Law::constant, value}; }

}  // namespace

Var step_weights(const Var& logits, const Var& spent, const std::vector<char>& halts) {
  const core::Shape shape = logits.shape();
  core::require(shape == core::Shape{Index(halts.size()), 1} && spent.shape() == shape,
                "step_weights: logits ", shape, " and spent ", spent.shape(), " for ", halts.size(),
                " positions");
  Tensor w(shape);
  Real* to = w.write().data();
  for (std::size_t i = 0; i < halts.size(); ++i)
    to[i] = halts[i] ? 1 - spent.value().read()[i] : Real(logistic(logits.value().read()[i]));
  const Tensor saved = w;
  return autograd::record(
      "step_weights", std::move(w), {logits, spent}, [saved, halts](const Tensor& dw) {
        Tensor dlogits(saved.shape(), 0), dspent(saved.shape(), 0);
        Real *to_logits = dlogits.write().data(), *to_spent = dspent.write().data();
        for (std::size_t i = 0; i < halts.size(); ++i) {
          const Real own = saved.read()[i], d = dw.read()[i];
          if (halts[i])
            to_spent[i] = -d;
          else
            to_logits[i] = d * own * (1 - own);
        }
        return autograd::Gradients{std::move(dlogits), std::move(dspent)};
      });
}

HaltingUnit::HaltingUnit(const UniversalSettings& settings, Index width)
    : settings_(settings),
      weight_({1, width}, Init::normal(0.02)),
      bias_({1}, constant(settings.bias)),
      use_(Tensor({4}, 0), replace) {}

HaltingUnit::Decision HaltingUnit::decide(const Pass& pass, const Var& x, const Var& spent,
                                          Index step) const {
  const Var logits = autograd::linear(x, weight_, &bias_);
  const auto halts = pass.decide("halts", [&] {
    std::vector<char> all(std::size_t(x.shape()[0]), step == settings_.steps);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double sum = double(spent.value().read()[i]) + logistic(logits.value().read()[i]);
      if (sum > 1 - settings_.epsilon) all[i] = true;
    }
    return all;
  });
  return {step_weights(logits, spent, *halts), halts};
}

Var HaltingUnit::charge(const Pass& pass, const Var& out, const Decision& decision, Index step,
                        Index real) const {
  auto rows = std::make_shared<std::vector<Index>>();
  for (std::size_t i = 0; i < decision.halts->size(); ++i)
    if ((*decision.halts)[i]) rows->push_back(Index(i));
  if (rows->empty() || !pass.training()) return out;
  const auto count = Real(rows->size());
  const Var remainders = autograd::sum(autograd::gather_rows(decision.weights, rows));
  Tensor sums({4});
  const std::span<Real> to = sums.write();
  to[0] = Real(step) * count;
  to[1] = core::scalar(remainders.value());
  to[2] = step == settings_.steps ? count : 0;
  to[3] = count;
  pass.propose(use_, std::move(sums));
  if (settings_.price == 0) return out;
  const Var all = autograd::add(remainders, Var(Tensor({1}, Real(step) * count)));
  return autograd::penalise(pass, out, autograd::scale(all, Real(settings_.price / double(real))));
}

std::vector<autograd::Metric> HaltingUnit::metrics() const {
  const std::span<const Real> sums = use_.value().read();
  const double count = std::max(1.0, double(sums[3]));
  return {{"steps", double(sums[0]) / count},
          {"remainder", double(sums[1]) / count},
          {"at_limit", double(sums[2]) / count}};
}

void HaltingUnit::visit(Inventory& inventory) {
  inventory.add("weight", weight_);
  inventory.add("bias", bias_);
  inventory.add("use", use_);
  inventory.add_hooks("use", {[] {}, [this] { return metrics(); }});
}

}  // namespace weft::layers
