#pragma once

#include <string>
#include <vector>

namespace weft::experiments {

/// One direction of a chart: from values to places between 0 and 1, with ticks at round numbers.
class Axis {
 public:
  enum class Scale { linear, log };

  /// Room for every finite value (positive ones on a log scale) and a little more. Values that
  /// differ by less than a millionth count as the same.
  Axis(Scale scale, const std::vector<double>& values);
  /// Ends at 0 or 1 where nothing can be beyond.
  void end_at(double least, double most);

  double place(double value) const;
  struct Tick {
    double value;
    std::string text;
  };
  /// About `wanted` of them, each with a different label; whole numbers only where there is nothing
  /// between them.
  std::vector<Tick> ticks(int wanted, bool whole = false) const;

 private:
  double forward(double value) const;
  double backward(double place) const;

  Scale scale_;
  double low_ = 0, high_ = 1;  // after the scale
};

/// "0.25", "12", "1.5k", "3M"
std::string tick_text(double value);

}  // namespace weft::experiments
