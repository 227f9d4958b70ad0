#include "experiments/sweep/shorter_run.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace weft::experiments {
namespace {

/// From where the config has the setting, since a budget of the command line counts for more.
ConfigNode node_of(const ConfigTree& tree, const std::string& key, auto value) {
  const ConfigNode* node = tree.find(key);
  return {.value = value, .origin = node ? node->origin : ConfigOrigin{}, .spelling = {}};
}

Index scaled(Index count, double share) {
  return std::max<Index>(1, Index(std::llround(double(count) * share)));
}

}  // namespace

RunConfig shorter_run(const ConfigTree& tree, const RunConfig& whole, double share) {
  const TrainSettings& train = whole.train;
  core::require(train.minutes == 0,
                "[tune] gives candidates a share of the budget, and train.minutes is not the same "
                "for two of them: give train.tokens, train.steps or train.flops");
  ConfigTree shorter = tree;
  if (train.tokens > 0)
    shorter =
        shorter.with("train.tokens", node_of(tree, "train.tokens", scaled(train.tokens, share)));
  else if (train.flops > 0)
    shorter = shorter.with("train.flops", node_of(tree, "train.flops", train.flops * share));
  else
    shorter = shorter.with("train.steps", node_of(tree, "train.steps", scaled(train.steps, share)));
  const Index warmup = Index(std::floor(double(whole.optim.warmup) * share));
  if (warmup != whole.optim.warmup)
    shorter = shorter.with("optim.warmup", node_of(tree, "optim.warmup", warmup));
  return RunConfig::read(std::move(shorter));
}

}  // namespace weft::experiments
