#include "experiments/evaluate/baselines.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

std::string named(const data::Baseline& baseline) {
  return baseline.name + " " + format_fixed(baseline.accuracy, 4);
}
std::string named(const data::BitsBaseline& baseline) {
  return baseline.name + " " + format_fixed(baseline.bits, 4);
}

template <class Any>
std::string print_all(const std::vector<Any>& baselines) {
  std::string text;
  for (const Any& baseline : baselines) text += (text.empty() ? "" : ", ") + named(baseline);
  return text;
}

std::string metric_of(const std::string& begin, std::string name) {
  std::ranges::replace(name, ' ', '_');
  return begin + name;
}

}  // namespace

std::vector<data::Baseline> all_baselines(const data::Dataset& dataset, data::Split split) {
  std::vector<data::Baseline> all = dataset.baselines(split);
  if (dataset.classes() > 0) all.push_back({"chance", 1 / double(dataset.classes())});
  std::ranges::stable_sort(all, {}, &data::Baseline::accuracy);
  return all;
}

std::string print_baselines(const std::vector<data::Baseline>& baselines) {
  return print_all(baselines);
}

std::string print_baselines(const std::vector<data::BitsBaseline>& baselines) {
  return print_all(baselines);
}

std::string format_among(double accuracy, const std::vector<data::Baseline>& baselines) {
  const auto next = std::ranges::find_if(
      baselines, [&](const data::Baseline& baseline) { return baseline.accuracy >= accuracy; });
  std::string text;
  if (next != baselines.begin()) text = "above " + named(*std::prev(next));
  if (next != baselines.end())
    text += (text.empty() ? "not above " : ", not above ") + named(*next);
  return text;
}

std::string format_among(double bits, const std::vector<data::BitsBaseline>& baselines) {
  const auto next = std::ranges::find_if(
      baselines, [&](const data::BitsBaseline& baseline) { return baseline.bits <= bits; });
  std::string text;
  if (next != baselines.begin()) text = "below " + named(*std::prev(next));
  if (next != baselines.end())
    text += (text.empty() ? "not below " : ", not below ") + named(*next);
  return text;
}

std::string print_bits(double bits, double error,
                       const std::vector<data::BitsBaseline>& baselines) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4);
  bool listed = false;
  const auto list_own = [&] {
    out << "  " << bits << "  this model (± " << error << ")\n";
    listed = true;
  };
  out << "bits by tables of counts\n";
  for (const data::BitsBaseline& baseline : baselines) {
    if (!listed && bits > baseline.bits) list_own();
    out << "  " << baseline.bits << "  " << baseline.name << '\n';
  }
  if (!listed) list_own();
  return out.str();
}

std::string print_accuracy(const std::string& name, double accuracy, double error,
                           const std::vector<data::Baseline>& baselines) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4);
  bool listed = false;
  const auto list_own = [&] {
    out << "  " << accuracy << "  this model (± " << error << ")\n";
    listed = true;
  };
  out << name << '\n';
  for (const data::Baseline& baseline : baselines) {
    if (!listed && accuracy < baseline.accuracy) list_own();
    out << "  " << baseline.accuracy << "  " << baseline.name << '\n';
  }
  if (!listed) list_own();
  return out.str();
}

std::string print_classes(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text = std::to_string(names.size()) + " classes: ";
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > most ? ", ..." : "");
}

std::vector<std::pair<std::string, MetricValue>> baseline_metrics(
    const std::vector<data::Baseline>& baselines) {
  std::vector<std::pair<std::string, MetricValue>> values;
  for (const data::Baseline& baseline : baselines)
    values.emplace_back(metric_of("baseline_", baseline.name), baseline.accuracy);
  return values;
}

std::vector<std::pair<std::string, MetricValue>> baseline_metrics(
    const std::vector<data::BitsBaseline>& baselines) {
  std::vector<std::pair<std::string, MetricValue>> values;
  for (const data::BitsBaseline& baseline : baselines)
    values.emplace_back(metric_of("baseline_bits_", baseline.name), baseline.bits);
  return values;
}

}  // namespace weft::experiments
