#include "experiments/sweep/rules/tune_section.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "experiments/config/text.h"
#include "experiments/console/number_text.h"
#include "experiments/sweep/rules/value_range.h"

namespace weft::experiments {
namespace {

constexpr Index most_candidates = 1000;

class ReadingTune {
 public:
  ReadingTune(const ConfigNode& node, std::vector<ConfigProblem>& problems)
      : node_(node), problems_(problems) {}

  TuneSection finish() {
    if (!node_.table()) {
      problems_.push_back(wrong_type(node_, "tune", "a table of settings"));
      return {};
    }
    Assignments settings;
    flatten(node_, "", settings);
    std::erase_if(settings, [&](const Assignment& setting) { return read_own(setting); });
    if (settings.empty()) report(node_.origin, "tune", "[tune] names no setting to tune");
    if (trials_ == 0 && settings.size() == 1 && settings[0].value.list())
      trials_ = Index(settings[0].value.list()->size());
    if (trials_ < 2)
      report(node_.origin, "tune.trials",
             "[tune] needs trials, how many candidates each arm gets: at least 2");
    TuneSection tune;
    std::vector<Assignments> candidates(std::size_t(std::max<Index>(0, trials_)));
    for (const Assignment& setting : settings) {
      tune.keys.push_back(setting.key);
      take_values(setting, tune.keys.size() == 1, candidates);
    }
    keep_different(std::move(candidates), tune);
    choose_rungs(tune);
    return tune;
  }

 private:
  void report(const ConfigOrigin& origin, const std::string& key, const std::string& message) {
    problems_.push_back({origin, key, message});
  }

  /// Whether it is one of the section's own keys.
  bool read_own(const Assignment& setting) {
    if (setting.key == "budget") {
      if (const auto* number = std::get_if<double>(&setting.value.value); number && *number > 0)
        budget_ = *number;
      else if (const auto* whole = std::get_if<Index>(&setting.value.value); whole && *whole > 0)
        budget_ = double(*whole);
      else
        problems_.push_back(wrong_type(setting.value, "tune.budget", "a number above 0"));
      budget_at_ = setting.value.origin;
      is_budget_given_ = true;
      return true;
    }
    Index* target = setting.key == "trials" ? &trials_
                    : setting.key == "keep" ? &keep_
                    : setting.key == "seed" ? &seed_
                                            : nullptr;
    if (!target) return false;
    const Index least = target == &seed_ ? 0 : 2;
    const auto* value = std::get_if<Index>(&setting.value.value);
    if (value && *value >= least && (target == &seed_ || *value <= most_candidates))
      *target = *value;
    else
      problems_.push_back(wrong_type(setting.value, "tune." + setting.key,
                                     core::message_of("a whole number from ", least)));
    return true;
  }

  void take_values(const Assignment& setting, bool in_order, std::vector<Assignments>& candidates) {
    const auto range = ValueRange::read(setting.value);
    const ConfigNode::List* list = setting.value.list();
    if (!range && (!list || list->size() < 2))
      return report(setting.value.origin, setting.key,
                    ValueRange::is_meant(setting.value)
                        ? ValueRange::expected(setting)
                        : setting.key + " = " + quote(setting.value) +
                              " must be a range, { log = [low, high] } or { linear = [low, high] "
                              "}, or a list of at least two values");
    const std::vector<std::size_t> places = places_of(setting.key, candidates.size(), in_order);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::size_t n = candidates.size();
      ConfigNode value =
          range ? range->at(double(places[i]) / double(std::max<std::size_t>(1, n - 1)))
                : (*list)[places[i] * list->size() / n];
      value.origin = setting.value.origin;
      candidates[i].push_back({setting.key, std::move(value)});
    }
  }

  /// The first key takes its values in their order, the others in one of their own.
  std::vector<std::size_t> places_of(const std::string& key, std::size_t n, bool in_order) const {
    std::vector<std::size_t> places(n);
    std::iota(places.begin(), places.end(), std::size_t(0));
    if (in_order) return places;
    const core::Rng stream = core::Rng(std::uint64_t(seed_)).fold("tune").fold(key);
    std::ranges::stable_sort(places, {}, [&](std::size_t i) { return stream.uniform(i); });
    return places;
  }

  static void keep_different(std::vector<Assignments> candidates, TuneSection& tune) {
    std::set<std::string> seen;
    for (Assignments& candidate : candidates) {
      std::string text;
      for (const Assignment& setting : candidate) text += quote(setting.value) + "\n";
      if (seen.insert(text).second) tune.candidates.push_back(std::move(candidate));
    }
  }

  void choose_rungs(TuneSection& tune) {
    const auto n = Index(tune.candidates.size());
    const double most = most_halving_budget(n, keep_);
    if (is_budget_given_ && budget_ > most && n > 1)
      report(budget_at_, "tune.budget",
             core::message_of("tune.budget = ", format_exact(budget_), " is more than ", n,
                              " candidates can use, ", format_fixed(most, 2),
                              " whole trainings: the last rung takes at most half of one; give "
                              "more trials or a smaller budget"));
    tune.rungs = halving_rungs(n, keep_, std::min(budget_, most));
  }

  const ConfigNode& node_;
  std::vector<ConfigProblem>& problems_;
  Index trials_ = 0, keep_ = 3, seed_ = 1;
  double budget_ = 2;
  bool is_budget_given_ = false;
  ConfigOrigin budget_at_;
};

}  // namespace

TuneSection read_tune_section(const ConfigNode& node, std::vector<ConfigProblem>& problems) {
  return ReadingTune(node, problems).finish();
}

}  // namespace weft::experiments
