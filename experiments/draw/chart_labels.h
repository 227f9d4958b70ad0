#pragma once

#include <string>
#include <vector>

namespace weft::experiments {

/// About how wide a name in a chart is, in bold of 12 pixels.
double name_width(const std::string& utf8);

/// Moves places of lines of text apart, top to bottom, so that none overlaps another, inside the
/// bounds as long as there is room. NaN stays.
void push_apart(std::vector<double>& places, double top, double bottom);

/// Where a text begins, on its base line, and how wide it is.
struct LabelBox {
  double x, y, width;

  bool meets(const LabelBox& other) const;
};

/// Names next to points, each on the side where it overlaps no earlier name or point.
class PlacedLabels {
 public:
  /// For a point at (x, y) with a radius, between two sides of the picture.
  LabelBox place(const std::string& name, double x, double y, double radius, double left,
                 double right);

 private:
  std::vector<LabelBox> taken_;
};

}  // namespace weft::experiments
