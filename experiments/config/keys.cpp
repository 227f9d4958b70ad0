#include "experiments/config/keys.h"

#include <compare>
#include <optional>

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

/// Goes through a config and collects what is not among the keys.
class Search {
 public:
  Search(const std::set<std::string>& keys, const std::set<std::string>& sections,
         const ConfigKinds& kinds, const ConfigKinds::Selected& selected)
      : keys_(keys), sections_(sections), kinds_(kinds), selected_(selected) {}

  void check_table(const ConfigNode::Table& table, const std::string& path) {
    for (const auto& [key, node] : table) {
      const std::string here = join_path(path, key);
      if (!keys_.contains(here) && !sections_.contains(here))
        report(node, here);
      else if (node.table() && sections_.contains(here))
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
      if (sections_.contains(item)) check_table(*list[i].table(), item);
    }
  }

  void report(const ConfigNode& node, const std::string& path) {
    using Verdict = ConfigKinds::Verdict;
    const Verdict verdict = kinds_.judge(path, selected_);
    ConfigProblem problem{node.origin, path, path};
    if (verdict.is == Verdict::open) return;
    if (verdict.is == Verdict::conditional) {
      problem.message += " is used only with " + verdict.condition;
    } else if (verdict.is == Verdict::unused) {
      problem.message += " is not used beside the other settings";
    } else {
      problem.message = (node.table() ? "unknown section " : "unknown key ") + path;
      problem.suggestion = suggestion_for(path);
    }
    problems.push_back(problem);
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
    for (const std::string& key : keys_) consider(key, "");
    for (const std::string& section : sections_) consider(section, "");
    for (const std::string& key : kinds_.paths()) {
      const auto verdict = kinds_.judge(key, selected_);
      if (!verdict.condition.empty()) consider(key, " (only with " + verdict.condition + ")");
    }
    return best;
  }

  const std::set<std::string>& keys_;
  const std::set<std::string>& sections_;
  const ConfigKinds& kinds_;
  const ConfigKinds::Selected& selected_;
};

}  // namespace

void ConfigKeys::add_section(const std::string& path) {
  for (std::string section = path; !section.empty(); section = section_of(section))
    sections_.insert(section);
}

std::vector<ConfigProblem> ConfigKeys::unknown_in(const ConfigNode& root, const ConfigKinds& kinds,
                                                  const ConfigKinds::Selected& selected) const {
  Search search(keys_, sections_, kinds, selected);
  if (root.table()) search.check_table(*root.table(), "");
  return std::move(search.problems);
}

}  // namespace weft::experiments
