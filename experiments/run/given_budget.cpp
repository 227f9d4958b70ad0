#include "experiments/run/given_budget.h"

#include <cmath>
#include <optional>

#include "core/error.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

const ConfigNode* given(const ConfigTree& tree, const std::string& key) {
  const ConfigNode* node = tree.find(key);
  const bool typed = node && node->origin.place == ConfigOrigin::Place::command_line;
  return typed ? node : nullptr;
}

std::optional<Index> count_in(const ConfigNode* node) {
  if (!node) return std::nullopt;
  if (const Index* count = std::get_if<Index>(&node->value)) return *count;
  const std::string* text = std::get_if<std::string>(&node->value);
  if (!text || without_kilo(*text) == *text) return std::nullopt;
  return std::stoll(without_kilo(*text));
}

/// A warm-up below 1 is a share of train.steps; elsewhere it stays, and is no whole number.
ConfigTree with_counted_warmup(ConfigTree tree) {
  const ConfigNode* warmup = tree.find("optim.warmup");
  const double* share = warmup ? std::get_if<double>(&warmup->value) : nullptr;
  const auto steps = count_in(tree.find("train.steps"));
  if (!share || !steps || !(*share > 0 && *share < 1)) return tree;
  const ConfigNode counted{Index(std::llround(*share * double(*steps))), warmup->origin, {}};
  return tree.with("optim.warmup", counted);
}

ConfigTree with_fitting_warmup(ConfigTree tree, std::vector<std::string>& remarks) {
  const ConfigNode* steps_node = given(tree, "train.steps");
  const auto steps = count_in(steps_node), warmup = count_in(tree.find("optim.warmup"));
  if (!steps || !warmup || *steps < 1 || *warmup < *steps || given(tree, "optim.warmup"))
    return tree;
  const Index fitting = *steps / 10;
  remarks.push_back(core::message_of("optim.warmup = ", fitting, ", not ", *warmup, " (",
                                     tree.find("optim.warmup")->origin.text(),
                                     "), which does not end within train.steps = ", *steps));
  return tree.with("optim.warmup",
                   {.value = fitting, .origin = steps_node->origin, .spelling = {}});
}

}  // namespace

ConfigTree with_given_budget(ConfigTree tree, std::vector<std::string>& remarks) {
  const std::vector<std::string> budgets = {"train.steps", "train.tokens", "train.flops",
                                            "train.minutes"};
  bool any = false;
  for (const std::string& key : budgets) any = any || given(tree, key);
  if (!any) return with_counted_warmup(std::move(tree));
  for (const std::string& key : budgets)
    if (!given(tree, key)) tree = tree.without(key);
  return with_fitting_warmup(with_counted_warmup(std::move(tree)), remarks);
}

}  // namespace weft::experiments
