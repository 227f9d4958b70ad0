#include "experiments/report/axis.h"

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
  const double room = high_ > low_ ? 0.06 * (high_ - low_) : std::max(0.05 * std::abs(low_), 0.01);
  low_ -= room;
  high_ += room;
}

double Axis::forward(double value) const { return scale_ == Scale::log ? std::log2(value) : value; }
double Axis::backward(double x) const { return scale_ == Scale::log ? std::exp2(x) : x; }

double Axis::place(double value) const { return (forward(value) - low_) / (high_ - low_); }

std::vector<Axis::Tick> Axis::ticks(int wanted) const {
  std::vector<Tick> all;
  constexpr double few_octaves = 1.8;  // too few powers of two for ticks
  if (scale_ == Scale::linear || high_ - low_ < few_octaves) {
    const double from = backward(low_), to = backward(high_);
    const double step = round_step((to - from) / wanted);
    for (double i = std::ceil(from / step); i * step <= to; ++i)
      all.push_back({i * step, tick_text(i * step)});
    return all;
  }
  const double step = std::max(1.0, std::ceil((high_ - low_) / wanted));  // powers of two
  for (double x = std::ceil(low_); x <= high_; x += step)
    all.push_back({std::exp2(x), tick_text(std::exp2(x))});
  return all;
}

}  // namespace weft::experiments
