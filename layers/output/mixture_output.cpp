#include "layers/output/mixture_output.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"

namespace weft::layers {
namespace {

constexpr double least_log_scale = -7;

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

}  // namespace

/// Biases spread the means over the range of values.
MixtureOutput::MixtureOutput(Index levels, Index width, Index mixtures, Init init)
    : levels_(levels),
      mixtures_(mixtures),
      weight_({3 * mixtures, width}, init),
      bias_({3 * mixtures}, Init::uniform(1)) {
  core::require(levels >= 2 && mixtures >= 1, "model.output: a mixture of ", mixtures,
                " logistics over ", levels, " values");
}

Var MixtureOutput::loss(const Var& h, const core::Tokens& targets, Real share) const {
  const auto counted = targets.size() - std::ranges::count(targets.read(), core::no_target);
  core::require(counted > 0 || share == 0, "mixture output: no target is counted");
  const Var nats = autograd::logistic_mixture(theta(h), targets, levels_, Real(least_log_scale));
  return autograd::scale(autograd::sum(nats), share / Real(std::max<Index>(1, counted)));
}

/// The differences of F at the edges between values: 0 and 1 at the outermost ones.
std::vector<double> MixtureOutput::probabilities(const Real* theta) const {
  std::vector<double> all(std::size_t(levels_), 0.0);
  const double top = *std::max_element(theta, theta + mixtures_);
  double total = 0;
  for (Index k = 0; k < mixtures_; ++k) total += std::exp(double(theta[k]) - top);
  for (Index k = 0; k < mixtures_; ++k) {
    const double prior = std::exp(double(theta[k]) - top) / total, mean = theta[mixtures_ + k];
    const double inverse = std::exp(-std::max(double(theta[2 * mixtures_ + k]), least_log_scale));
    double below = 0;
    for (Index v = 0; v < levels_; ++v) {
      const double edge = (2 * double(v) + 1) / double(levels_ - 1) - 1;
      const double up_to = v == levels_ - 1 ? 1 : sigmoid((edge - mean) * inverse);
      all[std::size_t(v)] += prior * (up_to - below);
      below = up_to;
    }
  }
  return all;
}

TokenScores MixtureOutput::score(const Tensor& h, const core::Tokens& targets) const {
  const Var parameters = theta(Var(h));
  const Tensor nats =
      autograd::logistic_mixture(parameters, targets, levels_, Real(least_log_scale)).value();
  const Index rows = targets.size();
  std::vector<char> correct(std::size_t(rows), 0);  // bytes: written from many threads
  core::parallel_for(rows, 16, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const core::Token target = targets.read()[std::size_t(r)];
      if (target == core::no_target) continue;
      const auto all = probabilities(parameters.value().data() + r * 3 * mixtures_);
      correct[std::size_t(r)] = all[std::size_t(target)] == *std::ranges::max_element(all);
    }
  });
  return {{nats.read().begin(), nats.read().end()},
          std::vector<bool>(correct.begin(), correct.end())};
}

Tensor MixtureOutput::logits(const Tensor& h, Index vocabulary) const {
  constexpr double never = -1e30;
  const Tensor parameters = theta(Var(h)).value();
  Tensor z({parameters.shape()[0], vocabulary}, Real(never));
  for (Index r = 0; r < z.shape()[0]; ++r) {
    const auto all = probabilities(parameters.data() + r * 3 * mixtures_);
    for (Index v = 0; v < levels_; ++v)
      if (all[std::size_t(v)] > 0)
        z.write()[std::size_t(r * vocabulary + v)] = Real(std::log(all[std::size_t(v)]));
  }
  return z;
}

void MixtureOutput::visit(Inventory& inventory) {
  inventory.add("weight", weight_);
  inventory.add("bias", bias_);
}

}  // namespace weft::layers
