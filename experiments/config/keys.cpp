#include "experiments/config/keys.h"

#include <algorithm>
#include <compare>
#include <optional>

#include "experiments/config/describing.h"
#include "experiments/console/nearest_word.h"

namespace weft::experiments {
namespace {

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
  const std::string_view name = name_of(path);
  const bool moved = section_of(path) != section_of(legal);
  if (is_misspelling(name, name_of(legal))) {
    const std::size_t slips = edit_distance(name, name_of(legal));
    return Likeness{slips > 0, moved, slips, edit_distance(path, legal)};
  }
  if (!is_misspelling(path, legal)) return std::nullopt;
  return Likeness{true, moved, name.size(), edit_distance(path, legal)};
}

/// data.kind = "text" or "bytes"; conditions that hold together are joined by "and", and those of
/// which one is enough by "or".
std::string text_of(std::vector<std::vector<ConfigKeys::Unmet>> alternatives) {
  std::vector<std::vector<ConfigKeys::Unmet>> merged;
  for (auto& conditions : alternatives) {
    const auto is_on_the_same_key = [&](const std::vector<ConfigKeys::Unmet>& other) {
      return conditions.size() == 1 && other.size() == 1 && !conditions[0].key.empty() &&
             other[0].key == conditions[0].key;
    };
    const auto same = std::ranges::find_if(merged, is_on_the_same_key);
    if (same == merged.end()) {
      merged.push_back(std::move(conditions));
      continue;
    }
    for (const std::string& value : conditions[0].values)
      if (std::ranges::find((*same)[0].values, value) == (*same)[0].values.end())
        (*same)[0].values.push_back(value);
  }
  std::string text;
  for (const auto& conditions : merged)
    text += (text.empty() ? "" : ", or ") + condition_text(conditions);
  return text;
}

}  // namespace

/// Goes through a config and collects what is not among the keys.
class UnknownKeys {
 public:
  UnknownKeys(const ConfigKeys& keys, const std::set<std::string>& wrong, bool saved)
      : keys_(keys), wrong_(wrong), saved_(saved) {}

  void check_table(const ConfigNode::Table& table, const std::string& path) {
    for (const auto& [key, node] : table) {
      const std::string here = join_path(path, key);
      const bool is_section = keys_.sections_.contains(here);
      if (!keys_.keys_.contains(here) && !is_section)
        report(node, here);
      else if (node.table() && is_section)
        check_table(*node.table(), here);
      else if (node.list())
        check_list(*node.list(), here);
    }
  }

  std::vector<ConfigProblem> problems;

 private:
  void check_list(const ConfigNode::List& list, const std::string& path) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string item = path + "[" + std::to_string(i) + "]";
      if (keys_.sections_.contains(item)) check_table(*list[i].table(), item);
    }
  }

  void report(const ConfigNode& node, const std::string& path) {
    ConfigProblem problem{node.origin, path, path};
    const auto renamed = keys_.renamed_.find(path);
    const auto conditional = keys_.conditional_.find(path);
    if (renamed != keys_.renamed_.end()) {
      problem.message += " is now called " + renamed->second + ": rename it";
    } else if (conditional == keys_.conditional_.end()) {
      problem.message = (node.table() ? "unknown section " : "unknown key ") + path;
      if (++suggested_ <= most_suggested) problem.suggestion = suggestion_for(path);
    } else if (depends_on_a_wrong_key(conditional->second.all) ||
               (saved_ && node.origin.place == ConfigOrigin::Place::file)) {
      return;
    } else {
      problem.message += " is used only with " + text_of(conditional->second.all);
    }
    problems.push_back(problem);
  }

  bool depends_on_a_wrong_key(const std::vector<std::vector<ConfigKeys::Unmet>>& all) const {
    for (const auto& conditions : all)
      for (const ConfigKeys::Unmet& condition : conditions)
        if (wrong_.contains(condition.key)) return true;
    return false;
  }

  std::string suggestion_for(const std::string& path) const {
    std::string best;
    std::optional<Likeness> best_likeness;
    const auto consider = [&](const std::string& legal, const std::string& remark) {
      const std::optional<Likeness> like = likeness(path, legal);
      if (!like || (best_likeness && *best_likeness <= *like)) return;
      best = legal + remark;
      best_likeness = like;
    };
    for (const std::string& key : keys_.keys_) consider(key, "");
    for (const std::string& section : keys_.sections_) consider(section, "");
    for (const auto& [key, ways] : keys_.conditional_)
      if (!keys_.keys_.contains(key) && !depends_on_a_wrong_key(ways.all))
        consider(key, " (only with " + text_of(ways.all) + ")");
    return best;
  }

  static constexpr Index most_suggested = 50;  // a file of nothing but unknown keys is no typo

  const ConfigKeys& keys_;
  const std::set<std::string>& wrong_;
  bool saved_;
  Index suggested_ = 0;
};

void ConfigKeys::add_section(const std::string& path) {
  for (std::string section = path; !section.empty(); section = section_of(section))
    sections_.insert(section);
}

void ConfigKeys::add_conditional(const std::string& path, std::vector<Unmet> unmet, Index met) {
  Ways& ways = conditional_[path];
  const bool is_first = ways.all.empty();
  const bool is_nearer =
      !is_first && (met > ways.met || (met == ways.met && unmet.size() < ways.all[0].size()));
  if (is_nearer) ways.all.clear();
  if (is_first || is_nearer) ways.met = met;
  if (ways.all.empty() || (met == ways.met && unmet.size() == ways.all[0].size()))
    ways.all.push_back(std::move(unmet));
}

std::vector<ConfigProblem> ConfigKeys::unknown_in(const ConfigNode& root,
                                                  const std::set<std::string>& wrong,
                                                  bool saved) const {
  UnknownKeys search(*this, wrong, saved);
  if (root.table()) search.check_table(*root.table(), "");
  return std::move(search.problems);
}

}  // namespace weft::experiments
