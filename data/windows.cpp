#include "data/windows.h"

#include <algorithm>

#include "core/error.h"

namespace weft::data {

void check_stride(Index stride, Index length) {
  core::require(stride >= 1 && stride <= length, "evaluation: the stride must lie between 1 and ",
                length, ", the length of a sequence; got ", stride);
}

Windows::Windows(Index predictions, Index length, Index stride)
    : predictions_(predictions), length_(length), stride_(stride) {
  check_stride(stride, length);
}

Index Windows::count() const {
  const Index beyond_first = std::max<Index>(predictions_ - length_, 0);
  return (predictions_ > 0 ? 1 : 0) + (beyond_first + stride_ - 1) / stride_;
}

Window Windows::operator[](Index number) const {
  const Index begin = number * stride_;
  const Index scored_from = number == 0 ? 0 : begin + length_ - stride_;
  return {begin, std::min(begin + length_, predictions_), scored_from};
}

}  // namespace weft::data
