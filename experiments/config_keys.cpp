#include "experiments/config_keys.h"

#include <algorithm>
#include <compare>
#include <optional>

#include "experiments/config_spelling.h"
#include "experiments/config_text.h"

namespace weft::experiments {
namespace {

std::string parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return std::string(dot == std::string_view::npos ? "" : path.substr(0, dot));
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// How a legal key resembles an unknown one, the best first: the same name in another section, a
/// similar name in the same section, a similar name elsewhere.
struct Likeness {
  bool renamed;
  bool moved;
  std::size_t slips;
  std::size_t slips_in_path;

  auto operator<=>(const Likeness&) const = default;
};

std::optional<Likeness> likeness(const std::string& path, const std::string& legal) {
  const std::string_view name = last_part(path);
  const bool moved = parent_of(path) != parent_of(legal);
  if (is_misspelling(name, last_part(legal))) {
    const std::size_t slips = edit_distance(name, last_part(legal));
    return Likeness{slips > 0, moved, slips, edit_distance(path, legal)};
  }
  if (!is_misspelling(path, legal)) return std::nullopt;
  return Likeness{true, moved, name.size(), edit_distance(path, legal)};
}

}  // namespace

void ConfigKeys::add_section(const std::string& path) {
  for (std::string section = path; !section.empty(); section = parent_of(section))
    sections_.insert(section);
}

core::Fields& ConfigKeys::alternative(const std::string& section, const std::string& selector,
                                      const std::string& kind) {
  alternatives_.push_back({section, join_path(section, selector) + " = " + toml_text(kind),
                           std::make_unique<DescribingFields>()});
  return *alternatives_.back().fields;
}

std::vector<ConfigProblem> ConfigKeys::unknown_in(const ConfigNode& root) const {
  std::vector<ConfigProblem> problems;
  if (root.table()) check_table(*root.table(), "", problems);
  return problems;
}

void ConfigKeys::check_table(const ConfigNode::Table& table, const std::string& path,
                             std::vector<ConfigProblem>& problems) const {
  for (const auto& [key, node] : table) {
    const std::string here = join_path(path, key);
    if (!keys_.contains(here) && !sections_.contains(here)) {
      problems.push_back(unknown(node, here));
    } else if (node.table() && sections_.contains(here)) {
      check_table(*node.table(), here, problems);
    } else if (node.list()) {
      for (std::size_t i = 0; i < node.list()->size(); ++i) {
        const std::string item = here + "[" + std::to_string(i) + "]";
        if (sections_.contains(item)) check_table(*(*node.list())[i].table(), item, problems);
      }
    }
  }
}

ConfigProblem ConfigKeys::unknown(const ConfigNode& node, const std::string& path) const {
  if (const std::string condition = condition_of(path); !condition.empty())
    return {node.origin, path, path + " is used only with " + condition};
  const std::string what = node.table() ? "unknown section " : "unknown key ";
  return {node.origin, path, what + path, suggestion_for(path)};
}

std::string ConfigKeys::condition_of(const std::string& path) const {
  std::string conditions;
  for (const Alternative& other : alternatives_) {
    const auto& keys = other.fields->descriptions();
    if (other.section == parent_of(path) &&
        std::ranges::find(keys, last_part(path), &FieldDescription::key) != keys.end())
      conditions += (conditions.empty() ? "" : " or ") + other.condition;
  }
  return conditions;
}

std::string ConfigKeys::suggestion_for(const std::string& path) const {
  std::string best;
  std::optional<Likeness> best_likeness;
  const auto consider = [&](const std::string& legal, const std::string& remark) {
    const std::optional<Likeness> like = likeness(path, legal);
    if (!like || (best_likeness && *best_likeness <= *like)) return;
    best = legal + remark;
    best_likeness = like;
  };
  for (const std::string& key : keys_) consider(key, "");
  for (const std::string& section : sections_) consider(section, "");
  for (const Alternative& other : alternatives_)
    for (const FieldDescription& field : other.fields->descriptions()) {
      const std::string key = join_path(other.section, field.key);
      if (!keys_.contains(key)) consider(key, " (only with " + condition_of(key) + ")");
    }
  return best;
}

}  // namespace weft::experiments
