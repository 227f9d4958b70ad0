#include "experiments/sweep/same_systems.h"

#include <algorithm>
#include <cmath>

namespace weft::experiments {
namespace {

/// The settings of the model and its attention, or all others.
TrialSettings settings_of(const PlannedTrial& trial, bool of_model) {
  TrialSettings some;
  for (const auto& setting : trial.settings)
    if ((setting.first.starts_with("model.") || setting.first.starts_with("attention.")) ==
        of_model)
      some.push_back(setting);
  return some;
}

bool near(double a, double b) {
  constexpr double close = 1e-5;  // sums in another order, in float
  return std::abs(a - b) <= close * std::abs(a);
}

bool begins_like(const PlannedTrial& a, const PlannedTrial& b) {
  return a.first_loss > 0 && b.first_loss > 0 && near(a.first_loss, b.first_loss) &&
         near(a.first_gradient, b.first_gradient);
}

}  // namespace

std::vector<std::string> same_systems(const SweepPlan& plan) {
  std::vector<std::string> sentences;
  for (auto trial = plan.trials.begin(); trial != plan.trials.end(); ++trial) {
    const auto same = [&](const PlannedTrial& earlier) {
      return begins_like(*trial, earlier) && trial->parameters == earlier.parameters &&
             trial->flops == earlier.flops &&
             settings_of(*trial, false) == settings_of(earlier, false);
    };
    const auto first = std::find_if(plan.trials.begin(), trial, same);
    if (first == trial) continue;
    TrialSettings around = settings_of(*trial, false);
    std::erase_if(around, [](const auto& setting) { return !setting.first.starts_with("data."); });
    sentences.push_back(label_of(settings_of(*trial, true)) + " computes what " +
                        label_of(settings_of(*first, true)) + " does" +
                        (around.empty() ? "" : " with " + label_of(around)) +
                        " (the same parameters, arithmetic and first step): they are one system "
                        "under two names");
  }
  return sentences;
}

}  // namespace weft::experiments
