#include "experiments/report/doubts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "experiments/config/node.h"
#include "experiments/console/number_text.h"
#include "experiments/report/contrast.h"
#include "experiments/report/score_text.h"

namespace weft::experiments {
namespace {

using Rows = std::vector<const ComparedRow*>;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// To two digits: 0.012 rather than 0.0120000001.
double rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 1);
  return std::round(value / unit) * unit;
}

std::string short_number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 4);
  return {text, end.ptr};
}

void doubt_same(const Rows& rows, std::vector<Doubt>& doubts) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (computes_the_same(*rows[k], *rows[i]))
        doubts.push_back({rows[i]->name + " computes what " + rows[k]->name +
                              " does (the same parameters, arithmetic and first step): they are "
                              "one system under two names",
                          {rows[k]->name, rows[i]->name}});
}

void doubt_few_seeds(const Rows& rows, std::vector<Doubt>& doubts) {
  std::vector<std::string> one, two;
  for (const ComparedRow* row : rows) {
    if (row->done.size() == 1) one.push_back(row->name);
    if (row->done.size() == 2) two.push_back(row->name);
  }
  const auto all = [&](const std::vector<std::string>& names) {
    return names.size() == rows.size() ? std::string("every row") : list_of(names);
  };
  if (!one.empty())
    doubts.push_back(
        {"one seed (" + all(one) + "): nothing says what seeds explain; take three", one});
  if (!two.empty())
    doubts.push_back({"two seeds (" + all(two) +
                          "): their interval is 12.7 standard errors wide to either side; with "
                          "three it is 4.3",
                      two});
}

/// Rows that chose the same value at the edge of what was tried share a sentence.
void doubt_edges(const Rows& rows, std::vector<Doubt>& doubts) {
  struct Edge {
    std::string key, chosen, next;
    auto operator<=>(const Edge&) const = default;
  };
  std::map<Edge, std::vector<std::string>> edges;
  for (const ComparedRow* row : rows)
    for (const TriedSetting& setting : row->tried)
      if (const auto next = value_beyond(setting))
        edges[{setting.key, setting.chosen, *next}].push_back(row->name);
  for (const auto& [edge, names] : edges) {
    const bool up = *number_in(edge.next) > *number_in(edge.chosen);
    doubts.push_back(
        {std::string(name_of(edge.key)) + " at the edge: " + edge.chosen + " is the " +
             (up ? "largest" : "smallest") + " tried and the choice of " +
             (names.size() == rows.size() && rows.size() > 1 ? "every row" : list_of(names)) +
             "; try " + edge.next,
         names});
  }
}

void doubt_budget(const Rows& rows, std::vector<Doubt>& doubts) {
  std::vector<std::string> names, shown, unknown;
  for (const ComparedRow* row : rows) {
    const auto fall = late_fall(*row);
    if (!fall) unknown.push_back(row->name);
    if (!fall || *fall <= still_falling) continue;
    names.push_back(row->name);
    shown.push_back(row->name + " " + format_fixed(100 * *fall, 1) + " %");
  }
  if (!names.empty())
    doubts.push_back(
        {"curves still falling, by more than 1 % of the validation loss over the last "
         "quarter of the steps: " +
             list_of(shown) + "; a longer budget may change the order",
         names});
  if (!unknown.empty() && unknown.size() == rows.size())
    doubts.push_back(
        {"less than four validations: whether curves still fall is unknown; lower "
         "train.eval_every",
         unknown});
}

void doubt_many_verdicts(const Rows& rows, const std::string& metric, std::vector<Doubt>& doubts) {
  constexpr Index many = 10;
  Index pairs = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) pairs += contrast_of(*rows[i], *rows[k], metric).decided();
  if (pairs < many) return;
  const auto all = Index(rows.size() * (rows.size() - 1) / 2);
  doubts.push_back({"each interval is one of 95 %: of " + std::to_string(all) +
                        " pairs without a difference, chance alone would call about " +
                        format_fixed(0.05 * double(all), 1) + " decided",
                    {}});
}

}  // namespace

std::optional<std::string> value_beyond(const TriedSetting& setting) {
  const auto chosen = number_in(setting.chosen);
  if (!chosen) return std::nullopt;
  std::vector<double> values;
  for (const std::string& text : setting.values) {
    const auto value = number_in(text);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  std::ranges::sort(values);
  if (values.size() < 2 || *chosen == 0) return std::nullopt;
  const bool lowest = *chosen == values.front(), highest = *chosen == values.back();
  if (lowest == highest) return std::nullopt;
  const double neighbour = lowest ? values[1] : values[values.size() - 2];
  double next = 2 * *chosen - neighbour;
  if (*chosen > 0 && neighbour > 0) next = *chosen * std::clamp(*chosen / neighbour, 1.0 / 3, 3.0);
  const bool whole = *chosen == std::round(*chosen) && neighbour == std::round(neighbour);
  next = whole ? std::round(next) : rounded(next);
  if (next == *chosen || (next <= 0 && *chosen > 0 && !whole)) return std::nullopt;
  return whole ? std::to_string(Index(next)) : short_number(next);
}

std::optional<double> late_fall(const ComparedRow& row) {
  constexpr std::size_t fewest = 4;
  double sum = 0, last = 0;
  for (const TrialRecord* trial : row.done) {
    const Curve& curve = trial->validation;
    if (curve.steps.size() < fewest) return std::nullopt;
    const double end = double(curve.steps.back()), quarter = 0.25 * end;
    std::size_t before = curve.steps.size() - 2;
    while (before > 0 && double(curve.steps[before]) > end - quarter) --before;
    const double steps = end - double(curve.steps[before]);
    sum += (curve.values[before] - curve.values.back()) * quarter / steps;
    last += curve.values.back();
  }
  if (row.done.empty() || last <= 0 || !std::isfinite(sum / last)) return std::nullopt;
  return sum / last;
}

std::vector<Doubt> doubts_of(const ComparedTask& task) {
  const Rows rows = competitors(task, task.metrics.front());
  std::vector<Doubt> doubts;
  if (rows.empty()) return doubts;
  doubt_same(rows, doubts);
  if (rows.size() > 1) doubt_few_seeds(rows, doubts);
  doubt_edges(rows, doubts);
  doubt_budget(rows, doubts);
  doubt_many_verdicts(rows, task.metrics.front(), doubts);
  return doubts;
}

}  // namespace weft::experiments
