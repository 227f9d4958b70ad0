#include "core/arrays/shape.h"

#include <ostream>

#include "core/error.h"

namespace weft::core {

Shape::Shape(std::span<const Index> extents) : rank_(Index(extents.size())) {
  require(rank_ <= most_axes, "shape: at most ", most_axes, " axes, got ", rank_);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    require(extents[i] >= 0, "shape: negative extent ", extents[i], " on axis ", i);
    extents_[i] = extents[i];
  }
}

Index Shape::size() const {
  Index n = 1;
  for (Index i = 0; i < rank_; ++i)
    require(!__builtin_mul_overflow(n, (*this)[i], &n), "shape: ", *this,
            " has more elements than can be counted");
  return n;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (Index i = 0; i < shape.rank(); ++i) text += message_of(i ? ", " : "", shape[i]);
  return text + ']';
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

}  // namespace weft::core
