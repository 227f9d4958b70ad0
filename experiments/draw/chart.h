#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/draw/axis.h"
#include "experiments/draw/paint.h"

namespace weft::experiments {

/// A point of a chart.
struct ChartMark {
  double x = 0, y = 0;
  double deviation = std::numeric_limits<double>::quiet_NaN();  ///< of y; NaN: none
  std::string title = {};                                       ///< shown by the mouse
};

struct ChartSeries {
  std::string name;  ///< empty for one that needs none
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
  /// The possible range of y: bands and bars end there.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool x_whole = false;                  ///< nothing is between whole numbers
  std::vector<Axis::Tick> x_ticks = {};  ///< in place of round numbers

  /// Marks that draw() draws: those with finite places.
  std::size_t drawn_marks() const;
};

/// A chart with the name of its file, as "recall-length-128-curves", and what it shows.
struct ChartFigure {
  std::string file;
  std::string caption;
  Chart chart;
};

/// The chart as an <svg> element, coloured by the page around it. Text is escaped.
std::string draw(const Chart& chart);
/// The same as a separate file: light, with every colour in it.
std::string svg_file(const Chart& chart);

}  // namespace weft::experiments
