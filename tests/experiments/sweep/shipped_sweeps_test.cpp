#include <filesystem>
#include <set>

#include "experiments/sweep/trials.h"
#include "layers/attention/registry.h"
#include "tests/places.h"

namespace weft::experiments {
namespace {

const std::string folder = source_dir() + "/configs/sweeps/";

/// Those of the first seed: other seeds differ in nothing else, and resolving takes its time.
std::set<std::string> mechanisms_of(const std::string& name) {
  SweepFile sweep = SweepFile::load(folder + name);
  for (SweepAxis& axis : sweep.axes)
    if (axis.origin == SweepAxis::Origin::seeds) axis.alternatives.resize(1);
  std::set<std::string> kinds;
  for (const Trial& trial : trials_of(sweep, {}))
    for (const std::string& kind : trial.config.model.attention) kinds.insert(kind);
  return kinds;
}

TEST(ShippedSweeps, resolve_and_hold_their_budget_equal) {
  for (const char* const name : {"attention-small.toml", "attention.toml", "attention-all.toml",
                                 "attention-encoders.toml"}) {
    std::set<Index> budgets;
    const auto trials = trials_of(SweepFile::load(folder + name), {});
    for (const Trial& trial : trials) budgets.insert(trial.config.train.tokens);
    EXPECT_EQ(budgets.size(), 1u) << name;
    EXPECT_GT(*budgets.begin(), 0) << name;
    EXPECT_EQ(trials.size() % 3, 0u) << name << " has three seeds";
  }
}

TEST(ShippedSweeps, attention_compares_at_most_ten_and_attention_all_every_mechanism) {
  EXPECT_LE(mechanisms_of("attention.toml").size(), 10u);
  const std::set<std::string> all = mechanisms_of("attention-all.toml"),
                              encoders = mechanisms_of("attention-encoders.toml");
  const layers::AttentionSite site = layers::ModelSettings{}.site(1024);
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    core::DefaultFields defaults;
    const bool causal = entry.configure(defaults, site).traits.causal;
    EXPECT_TRUE((causal ? all : encoders).contains(std::string(entry.kind)))
        << "configs/sweeps/" << (causal ? "attention-all" : "attention-encoders") << ".toml lacks "
        << entry.kind << ": add it to the list, and its settings to the config beside it";
  }
}

}  // namespace
}  // namespace weft::experiments
