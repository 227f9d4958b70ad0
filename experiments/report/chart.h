#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/report/axis.h"

namespace weft::experiments {

/// A point of a chart.
struct ChartMark {
  double x = 0, y = 0;
  double deviation = std::numeric_limits<double>::quiet_NaN();  ///< of y; NaN: none
  std::string title = {};                                       ///< shown by the mouse
};

struct ChartSeries {
  std::string name;
  std::size_t colour = 0;
  std::vector<ChartMark> marks;
};

/// A picture of some series: joined by lines with bands, or points with bars and the front of
/// those that no other beats.
struct Chart {
  std::string title, x_title, y_title;
  Axis::Scale x_scale = Axis::Scale::linear, y_scale = Axis::Scale::linear;
  bool y_falls = false;  ///< less is higher up
  bool joined = true;
  std::vector<ChartSeries> series;
  struct Level {
    double y;
    std::string name;
  };
  std::vector<Level> levels = {};     ///< dashed lines from side to side
  std::vector<ChartMark> front = {};  ///< joined by a line of its own, in this order

  /// Marks that draw() draws: those with finite places.
  std::size_t drawn_marks() const;
};

/// The chart as an <svg> element, coloured by the page around it. Text is escaped.
std::string draw(const Chart& chart);
/// The same as a file of its own, readable in light and dark.
std::string svg_file(const Chart& chart);

/// What the colours of series are in light and in dark, as CSS.
std::string chart_style();

/// Text inside HTML or SVG.
std::string escaped(const std::string& text);

}  // namespace weft::experiments
