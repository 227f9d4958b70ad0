#include "data/generated.h"

#include <algorithm>

#include "core/error.h"
#include "data/windows.h"

namespace weft::data {

Generated::Generated(Index length, Index batch, Index held_out, Alphabet alphabet)
    : length_(length), batch_(batch), held_out_(held_out), alphabet_(std::move(alphabet)) {
  core::require(held_out >= 1, "data.held_out must be at least 1, got ", held_out);
}

Batch Generated::sequences(Split split, Index begin, Index end) const {
  BatchRows rows(batch_, length_);
  for (Index row = 0; begin + row < end; ++row) draw(stream(split, begin + row), rows, row);
  return std::move(rows).finish();
}

Batch Generated::training(Index number) const {
  core::require(number >= 0, "data: training batch ", number, " does not exist");
  return sequences(Split::training, number * batch_, (number + 1) * batch_);
}

Index Generated::evaluation_batches(Split, Index stride) const {
  check_stride(stride, length_);
  return (held_out_ + batch_ - 1) / batch_;
}

Batch Generated::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  return sequences(split, number * batch_, std::min((number + 1) * batch_, held_out_));
}

}  // namespace weft::data
