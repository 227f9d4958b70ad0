#include <filesystem>
#include <map>
#include <set>

#include "core/files/durable_file.h"
#include "experiments/sweep/trials.h"
#include "layers/attention/registry.h"
#include "layers/settings/part_origins.h"
#include "tests/places.h"

namespace weft::experiments::shipped_sweeps_test {
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
  for (const auto& [name, seeds] : {std::pair("attention-small.toml", 3u),
                                    {"attention.toml", 3u},
                                    {"attention-all.toml", 3u},
                                    {"attention-encoders.toml", 3u},
                                    {"feedforwards.toml", 3u},
                                    {"today.toml", 1u}}) {
    std::set<Index> budgets;
    std::set<std::uint64_t> used;
    const auto trials = trials_of(SweepFile::load(folder + name), {});
    for (const Trial& trial : trials) {
      budgets.insert(trial.config.train.tokens);
      used.insert(std::uint64_t(trial.config.seed));
    }
    EXPECT_EQ(budgets.size(), 1u) << name;
    EXPECT_GT(*budgets.begin(), 0) << name;
    EXPECT_EQ(used.size(), seeds) << name;
    EXPECT_EQ(trials.size() % seeds, 0u) << name;
  }
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ShippedSweeps, of_claims_resolve_compare_with_three_seeds_and_say_what_a_verdict_means) {
  int claims = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "claims")) {
    const std::string path = entry.path().string(), text = core::read_text_file(path);
    if (!has(text, "\nbase = ")) continue;  // a model that several claims share
    ++claims;
    EXPECT_TRUE(text.starts_with("# Claim (")) << path;
    std::string first = text.substr(0, text.find("\nbase = "));
    for (std::size_t at; (at = first.find("\n# ")) != std::string::npos;) first.replace(at, 3, " ");
    EXPECT_TRUE(has(first, "arXiv ") && has(first, "It holds")) << path;
    EXPECT_TRUE(has(first, "weft sweep configs/sweeps/claims/" + entry.path().filename().string()))
        << path;
    const auto trials = trials_of(SweepFile::load(path), {});
    std::map<std::string, std::set<Index>> seeds;
    for (const Trial& trial : trials)
      seeds[trial.config.resolved.hash({"seed"})].insert(Index(trial.config.seed));
    EXPECT_GE(seeds.size(), 2u) << path;
    for (const auto& [system, own] : seeds) EXPECT_EQ(own, (std::set<Index>{1, 2, 3})) << path;
  }
  EXPECT_GE(claims, 14);
}

TEST(ShippedSweeps, today_compares_twelve_systems_on_recall_at_four_lengths_and_on_text) {
  std::map<std::string, std::set<Index>> lengths;
  std::set<std::vector<std::string>> systems;
  const auto trials = trials_of(SweepFile::load(folder + "today.toml"), {});
  for (const Trial& trial : trials) {
    lengths[trial.config.data.kind].insert(trial.config.data.length);
    systems.insert(trial.config.model.attention);
  }
  EXPECT_EQ(lengths["mqar"].size(), 4u);
  EXPECT_EQ(lengths["text"].size(), 1u);
  EXPECT_EQ(systems.size(), 12u);
  EXPECT_EQ(trials.size(), 60u);
}

TEST(ShippedSweeps, feedforwards_has_every_kind_and_layers_that_run_again) {
  std::set<layers::FeedForwardKind> kinds;
  std::set<layers::Halting> repeated;
  for (const Trial& trial : trials_of(SweepFile::load(folder + "feedforwards.toml"), {})) {
    const layers::ModelSettings& model = trial.config.model;
    kinds.insert(model.feedforward.begin(), model.feedforward.end());
    if (model.universal.chosen()) repeated.insert(model.universal.halting);
  }
  EXPECT_EQ(kinds.size(), layers::feed_forward_origins().size());
  EXPECT_EQ(repeated.size(), 2u) << "with halting and without";
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
}  // namespace weft::experiments::shipped_sweeps_test
