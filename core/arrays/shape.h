#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

#include "core/real.h"

namespace weft::core {

/// The extents of a dense row-major array, at most six axes; rank 0 is a scalar.
class Shape {
 public:
  static constexpr Index most_axes = 6;

  Shape() = default;
  Shape(std::initializer_list<Index> extents)
      : Shape(std::span<const Index>(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const Index> extents);

  Index rank() const { return rank_; }
  Index operator[](Index axis) const { return extents_[std::size_t(axis)]; }
  Index front() const { return extents_[0]; }
  Index back() const { return extents_[std::size_t(rank_ - 1)]; }
  /// How many elements.
  Index size() const;
  /// How many rows of the last axis.
  Index rows() const { return back() == 0 ? 0 : size() / back(); }

  bool operator==(const Shape&) const = default;

 private:
  std::array<Index, most_axes> extents_{};
  Index rank_ = 0;
};

/// As in "[2, 3]".
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace weft::core
