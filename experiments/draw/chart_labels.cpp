#include "experiments/draw/chart_labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace weft::experiments {
namespace {

constexpr double line_height = 14;

}  // namespace

void push_apart(std::vector<double>& places, double top, double bottom) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (std::isfinite(places[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return places[i]; });
  double lowest = top;
  for (const std::size_t i : order) {
    places[i] = std::max(places[i], lowest);
    lowest = places[i] + line_height;
  }
  double highest = bottom;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    places[*i] = std::min(places[*i], highest);
    highest = places[*i] - line_height;
  }
}

double name_width(const std::string& utf8) {
  constexpr double narrow = 5, usual = 8.2, wide = 12.6;
  double width = 0;
  for (const char c : utf8) {
    if ((c & 0xC0) == 0x80) continue;  // the rest of a letter
    const bool thin = std::string_view("fijlrtI.,:;'|()[]-/ ").find(c) != std::string_view::npos;
    const bool broad = std::string_view("mwMW@%").find(c) != std::string_view::npos;
    width += thin ? narrow : broad ? wide : usual;
  }
  return width;
}

bool LabelBox::meets(const LabelBox& other) const {
  return x < other.x + other.width && other.x < x + width && std::abs(y - other.y) < line_height;
}

LabelBox PlacedLabels::place(const std::string& name, double x, double y, double radius,
                             double left, double right) {
  const double r = radius, w = name_width(name);
  const std::vector<LabelBox> sides = {{x + r + 4, y + 4, w},     {x - r - 4 - w, y + 4, w},
                                       {x - w / 2, y - r - 5, w}, {x - w / 2, y + r + 13, w},
                                       {x + r + 2, y - r - 8, w}, {x + r + 2, y + r + 14, w}};
  const auto fits = [&](const LabelBox& box) {
    return box.x > left && box.x + box.width < right &&
           std::ranges::none_of(taken_, [&](const LabelBox& b) { return b.meets(box); });
  };
  const auto free = std::ranges::find_if(sides, fits);
  LabelBox box = free == sides.end() ? sides.front() : *free;
  box.x = std::max(left, std::min(box.x, right - w));
  taken_.push_back(box);
  taken_.push_back({x - r, y + 4, 2 * r});
  return box;
}

}  // namespace weft::experiments
