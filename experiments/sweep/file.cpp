#include "experiments/sweep/file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/rng.h"
#include "experiments/config/file.h"
#include "experiments/config/problem.h"
#include "experiments/config/text.h"
#include "experiments/console/nearest_word.h"
#include "experiments/sweep/rules/tune_section.h"
#include "experiments/sweep/rules/value_range.h"

namespace weft::experiments {
namespace {

const std::vector<std::string> sections = {"base", "seeds", "equal",   "equal_within",
                                           "grid", "zip",   "list",    "random",
                                           "tune", "prune", "exclude", "eval"};

class Reading {
 public:
  explicit Reading(const std::string& path) { root_ = read_config_file(path, problems_); }

  SweepFile finish(const std::string& path) {
    SweepFile sweep;
    sweep.path = path;
    for (const auto& [key, node] : *root_.table())
      if (std::ranges::find(sections, key) == sections.end())
        problems_.push_back(
            {node.origin, key, "unknown key " + key + " in a sweep", nearest(key, sections)});
    read_base(sweep);
    read_list(sweep);
    read_grid(sweep);
    read_zip(sweep);
    read_random(sweep);
    read_tune(sweep);
    read_seeds(sweep);
    if (const ConfigNode* node = find("prune")) sweep.prune = read_prune_section(*node, problems_);
    if (const ConfigNode* node = find("eval")) read_eval(*node, sweep);
    if (const ConfigNode* node = find("equal"))
      sweep.equal = read_equal_rule(*node, find("equal_within"), problems_);
    read_excluded(sweep);
    refuse_keys_given_twice(sweep);
    sweep.problems = std::move(problems_);
    return sweep;
  }

 private:
  void report(const ConfigOrigin& origin, const std::string& key, const std::string& message) {
    problems_.push_back({origin, key, message});
  }

  const ConfigNode* find(const std::string& key) const {
    const auto found = root_.table()->find(key);
    return found == root_.table()->end() ? nullptr : &found->second;
  }

  /// The settings of a table; reports a section that is no table.
  Assignments settings_of(const ConfigNode& node, const std::string& section) {
    Assignments settings;
    if (node.table())
      flatten(node, "", settings);
    else
      problems_.push_back(wrong_type(node, section, "a table of settings"));
    return settings;
  }

  /// The tables of [[list]] or [[exclude]].
  ConfigNode::List tables_of(const std::string& section) {
    const ConfigNode* node = find(section);
    if (!node) return {};
    if (node->list()) return *node->list();
    report(node->origin, section, "write [[" + section + "]], once for each alternative");
    return {};
  }

  const ConfigNode::List* values_of(const Assignment& setting) {
    const ConfigNode::List* values = setting.value.list();
    if (values && !values->empty()) return values;
    report(setting.value.origin, setting.key,
           setting.key + " = " + quote(setting.value) + " must be a list of the values to try");
    return nullptr;
  }

  void read_base(SweepFile& sweep) {
    const ConfigNode* base = find("base");
    if (!base) {
      report({}, "base", "base is missing: name the config that the trials start from");
    } else if (const auto* name = std::get_if<std::string>(&base->value)) {
      const auto folder = std::filesystem::path(sweep.path).parent_path();
      sweep.base = (folder / *name).lexically_normal().string();
    } else {
      problems_.push_back(wrong_type(*base, "base", "the name of a config file"));
    }
  }

  void read_list(SweepFile& sweep) {
    SweepAxis axis{SweepAxis::Origin::list, {}};
    for (const ConfigNode& entry : tables_of("list"))
      axis.alternatives.push_back(settings_of(entry, "list"));
    if (!axis.alternatives.empty()) sweep.axes.push_back(std::move(axis));
  }

  void read_grid(SweepFile& sweep) {
    const ConfigNode* node = find("grid");
    if (!node) return;
    for (const Assignment& setting : settings_of(*node, "grid")) {
      SweepAxis axis{SweepAxis::Origin::grid, {}};
      if (const auto* values = values_of(setting))
        for (const ConfigNode& value : *values) axis.alternatives.push_back({{setting.key, value}});
      sweep.axes.push_back(std::move(axis));
    }
  }

  void read_zip(SweepFile& sweep) {
    const ConfigNode* node = find("zip");
    if (!node) return;
    SweepAxis axis{SweepAxis::Origin::zip, {}};
    for (const Assignment& setting : settings_of(*node, "zip")) {
      const auto* values = values_of(setting);
      if (!values) continue;
      if (axis.alternatives.empty()) axis.alternatives.resize(values->size());
      if (axis.alternatives.size() != values->size()) {
        report(setting.value.origin, setting.key,
               setting.key + " has " + std::to_string(values->size()) +
                   " values where others in [zip] have " +
                   std::to_string(axis.alternatives.size()));
        continue;
      }
      for (std::size_t i = 0; i < values->size(); ++i)
        axis.alternatives[i].push_back({setting.key, (*values)[i]});
    }
    sweep.axes.push_back(std::move(axis));
  }

  void read_random(SweepFile& sweep) {
    const ConfigNode* node = find("random");
    if (!node) return;
    Index n = 0, seed = 1;
    std::vector<Assignments> draws;
    Assignments ranges = settings_of(*node, "random");
    std::erase_if(ranges, [&](const Assignment& setting) {
      Index* target = setting.key == "n" ? &n : setting.key == "seed" ? &seed : nullptr;
      if (!target) return false;
      if (const auto* value = std::get_if<Index>(&setting.value.value); value && *value >= 0)
        *target = *value;
      else
        problems_.push_back(wrong_type(setting.value, "random." + setting.key, "a whole number"));
      return true;
    });
    if (n < 1) report(node->origin, "random.n", "[random] needs n, the number of draws");
    draws.resize(std::size_t(std::clamp<Index>(n, 0, 100'000)));
    for (const Assignment& range : ranges) draw(range, seed, draws);
    sweep.axes.push_back({SweepAxis::Origin::random, std::move(draws)});
  }

  /// Adds a draw of one setting to each alternative. What is drawn depends on the seed, the
  /// setting's name and the number of the draw alone.
  void draw(const Assignment& range, Index seed, std::vector<Assignments>& draws) {
    const auto values = ValueRange::read(range.value);
    if (!values) return report(range.value.origin, range.key, ValueRange::expected(range));
    const core::Rng stream = core::Rng(std::uint64_t(seed)).fold("sweep").fold(range.key);
    for (std::size_t i = 0; i < draws.size(); ++i) {
      ConfigNode value = values->draw(stream.uniform(i));
      value.origin = range.value.origin;
      draws[i].push_back({range.key, std::move(value)});
    }
  }

  void read_tune(SweepFile& sweep) {
    const ConfigNode* node = find("tune");
    if (!node) return;
    TuneSection tune = read_tune_section(*node, problems_);
    for (const SweepAxis& axis : sweep.axes)
      for (const std::string& key : axis.keys())
        if (key == "seed")
          report(origin_of(axis, key), key,
                 "with [tune], give seeds = [...] at the top of the file: an arm is tuned once, "
                 "and then trains all of them");
    sweep.rungs = std::move(tune.rungs);
    sweep.axes.push_back({SweepAxis::Origin::tune, std::move(tune.candidates)});
  }

  void read_eval(const ConfigNode& node, SweepFile& sweep) {
    for (const Assignment& setting : settings_of(node, "eval")) {
      const auto* tokens = std::get_if<Index>(&setting.value.value);
      if (setting.key != "tokens")
        report(setting.value.origin, "eval." + setting.key,
               "unknown key eval." + setting.key + ": [eval] has tokens alone");
      else if (tokens && *tokens >= 1)
        sweep.eval_tokens = *tokens;
      else
        problems_.push_back(wrong_type(setting.value, "eval.tokens", "a whole number from 1"));
    }
  }

  void read_seeds(SweepFile& sweep) {
    const ConfigNode* node = find("seeds");
    if (!node) return;
    SweepAxis axis{SweepAxis::Origin::seeds, {}};
    if (const auto* count = std::get_if<Index>(&node->value); count && *count >= 1) {
      for (Index seed = 1; seed <= std::min<Index>(*count, 10'000); ++seed)
        axis.alternatives.push_back({{"seed", {seed, node->origin, {}}}});
    } else if (node->list() && !node->list()->empty()) {
      for (const ConfigNode& seed : *node->list()) axis.alternatives.push_back({{"seed", seed}});
    } else {
      problems_.push_back(wrong_type(*node, "seeds", "a list of seeds, or how many (1 to n)"));
    }
    sweep.axes.push_back(std::move(axis));
  }

  void read_excluded(SweepFile& sweep) {
    for (const ConfigNode& entry : tables_of("exclude")) {
      sweep.excluded.push_back(settings_of(entry, "exclude"));
      sweep.excluded_at.push_back(entry.origin);
    }
  }

  void refuse_keys_given_twice(const SweepFile& sweep) {
    std::set<std::string> seen;
    for (const SweepAxis& axis : sweep.axes)
      for (const std::string& key : axis.keys())
        if (!seen.insert(key).second)
          report(origin_of(axis, key), key, key + " is varied in two places: keep one");
  }

  /// Where an axis first gives a setting.
  static ConfigOrigin origin_of(const SweepAxis& axis, const std::string& key) {
    for (const Assignments& alternative : axis.alternatives)
      for (const Assignment& assignment : alternative)
        if (assignment.key == key) return assignment.value.origin;
    return {};
  }

  ConfigNode root_;
  std::vector<ConfigProblem> problems_;
};

}  // namespace

std::vector<std::string> SweepAxis::keys() const {
  std::vector<std::string> all;
  for (const Assignments& alternative : alternatives)
    for (const Assignment& assignment : alternative)
      if (std::ranges::find(all, assignment.key) == all.end()) all.push_back(assignment.key);
  return all;
}

SweepFile SweepFile::load(const std::string& path) { return Reading(path).finish(path); }

}  // namespace weft::experiments
