#include "experiments/draw/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::experiments {
namespace {

/// 1, 2 or 5 times a power of ten, not below `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/// The unit of an axis: "", "k", "M" or "G".
struct Unit {
  double size;
  const char* sign;
};
Unit unit_of(double largest) {
  if (largest >= 1e9) return {1e9, "G"};
  if (largest >= 1e6) return {1e6, "M"};
  if (largest >= 10'000) return {1e3, "k"};
  return {1, ""};
}

/// As many decimals as distinguish a tick from the next one, the same for all.
std::vector<std::string> tick_texts(const std::vector<double>& values, double step) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  const Unit unit = unit_of(largest);
  const int decimals = std::max(0, int(std::ceil(-std::log10(step / unit.size) - 1e-9)));
  constexpr int many = 5;
  std::vector<std::string> texts;
  for (const double value : values) {
    char text[40];
    const double shown = std::abs(value) < step / 2 ? 0 : value / unit.size;
    if (decimals >= many && largest < 0.01 && shown != 0)
      std::snprintf(text, sizeof text, "%.*ge%d", 1 + int(std::log10(largest / step)),
                    shown / std::pow(10, std::floor(std::log10(std::abs(shown)) + 1e-9)),
                    int(std::floor(std::log10(std::abs(shown)) + 1e-9)));
    else
      std::snprintf(text, sizeof text, "%.*f%s", shown == 0 && decimals >= many ? 0 : decimals,
                    shown, shown == 0 ? "" : unit.sign);
    texts.emplace_back(text);
  }
  return texts;
}

/// 1, 2 and 5 times the powers of ten from `from` to `to`; the powers alone where these are many.
std::vector<double> decimal_ticks(double from, double to, int wanted) {
  std::vector<double> all, powers;
  for (double power = std::pow(10, std::floor(std::log10(from))); power <= to; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * power;
      if (value < from || value > to) continue;
      all.push_back(value);
      if (factor == 1) powers.push_back(value);
    }
  return int(all.size()) > wanted + 2 ? powers : all;
}

}  // namespace

std::string tick_text(double value) {
  char text[32];
  const double size = std::abs(value);
  if (size >= 1e9)
    std::snprintf(text, sizeof text, "%.3gG", value / 1e9);
  else if (size >= 1e6)
    std::snprintf(text, sizeof text, "%.3gM", value / 1e6);
  else if (size >= 10'000)
    std::snprintf(text, sizeof text, "%.3gk", value / 1e3);
  else
    std::snprintf(text, sizeof text, "%.4g", size < 1e-12 ? 0 : value);
  return text;
}

Axis::Axis(Scale scale, const std::vector<double>& values) : scale_(scale) {
  bool first = true;
  for (const double value : values) {
    if (!std::isfinite(value) || (scale == Scale::log && value <= 0)) continue;
    const double x = forward(value);
    low_ = first ? x : std::min(low_, x);
    high_ = first ? x : std::max(high_, x);
    first = false;
  }
  if (first) low_ = 0, high_ = 1;
  const double size = std::max(std::abs(low_), std::abs(high_));
  const double room =
      high_ - low_ > 1e-6 * size ? 0.06 * (high_ - low_) : std::max(0.05 * std::abs(low_), 0.01);
  low_ -= room;
  high_ += room;
}

void Axis::end_at(double least, double most) {
  if (scale_ == Scale::log) return;
  if (least == 0) low_ = std::max(low_, 0.0);
  if (most == 1) high_ = std::min(high_, 1.0);
}

double Axis::forward(double value) const { return scale_ == Scale::log ? std::log2(value) : value; }
double Axis::backward(double x) const { return scale_ == Scale::log ? std::exp2(x) : x; }

double Axis::place(double value) const { return (forward(value) - low_) / (high_ - low_); }

std::vector<Axis::Tick> Axis::ticks(int wanted, bool whole) const {
  std::vector<Tick> all;
  constexpr double few_octaves = 1.8;  // too few powers of two for ticks
  if (scale_ == Scale::linear || high_ - low_ < few_octaves) {
    const double from = backward(low_), to = backward(high_);
    const double step = std::max(round_step((to - from) / wanted), whole ? 1.0 : 0.0);
    std::vector<double> values;
    for (double i = std::ceil(from / step); i * step <= to; ++i) values.push_back(i * step);
    const std::vector<std::string> texts = tick_texts(values, step);
    for (std::size_t i = 0; i < values.size(); ++i) all.push_back({values[i], texts[i]});
    return all;
  }
  if (constexpr double rounded = 10'000; backward(low_) >= rounded) {  // a tick is 20k, not 16.4k
    for (const double value : decimal_ticks(backward(low_), backward(high_), wanted))
      all.push_back({value, tick_text(value)});
    return all;
  }
  const double step = std::max(1.0, std::ceil((high_ - low_) / wanted));  // powers of two
  for (double x = std::ceil(low_); x <= high_; x += step)
    all.push_back({std::exp2(x), tick_text(std::exp2(x))});
  return all;
}

}  // namespace weft::experiments
