#include "experiments/run/resumed_config.h"

#include <algorithm>

#include "core/error.h"

namespace weft::experiments {
namespace {

bool is_safe(const std::string& key) {
  static const std::vector<std::string> safe = {"threads",
                                                "train.steps",
                                                "train.tokens",
                                                "train.flops",
                                                "train.minutes",
                                                "train.eval_every",
                                                "train.eval_batches",
                                                "train.patience",
                                                "train.keep_last",
                                                "train.keep_best",
                                                "train.checkpoint_every",
                                                "train.recompute",
                                                "train.tensorboard",
                                                "train.precision",
                                                "train.memory"};
  return std::ranges::find(safe, key) != safe.end() || key.starts_with("sample.");
}

}  // namespace

std::vector<std::string> check_resumed_config(const Checkpoint& checkpoint,
                                              const RunConfig& config) {
  const RunConfig saved =
      RunConfig::from_text(checkpoint.config_toml, checkpoint.path.filename().string());
  const auto before = saved.resolved.values(), now = config.resolved.values();
  std::vector<std::string> safe, unsafe;
  const auto compare = [&](const std::string& key, const std::string& old_value,
                           const std::string& new_value) {
    if (old_value == new_value) return;
    (is_safe(key) ? safe : unsafe).push_back(key + ": " + old_value + " -> " + new_value);
  };
  for (const auto& [key, value] : before)
    compare(key, value, now.contains(key) ? now.at(key) : "(unset)");
  for (const auto& [key, value] : now)
    if (!before.contains(key)) compare(key, "(unset)", value);
  if (unsafe.empty()) return safe;
  std::string list;
  for (const std::string& change : unsafe) list += "\n  " + change;
  const std::string run = checkpoint.path.parent_path().parent_path().string();
  throw core::Error(
      "the config is not the one that this run was saved with:" + list +
      "\nUndo the changes to resume, or start a new run that has them and begins with "
      "this model: add  --run DIR --init-from " +
      run);
}

}  // namespace weft::experiments
