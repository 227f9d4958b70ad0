#include "data/questions/question_data.h"

#include <algorithm>

#include "core/error.h"
#include "data/windows.h"

namespace weft::data {

template <class Take>
Batch QuestionData::assemble(Index count, Take take) const {
  std::vector<QuestionWindow> windows;
  for (Index row = 0; row < std::min(count, batch_); ++row) windows.push_back(take(row));
  return batch_of(windows, batch_, length_, answers_, pads_);
}

Batch QuestionData::training(Index number) const {
  core::require(number >= 0, "data: training batch ", number, " does not exist");
  return assemble(batch_, [&](Index row) { return training_window(number * batch_ + row); });
}

Index QuestionData::evaluation_batches(Split split, Index stride) const {
  check_stride(stride, length_);
  return (windows(split) + batch_ - 1) / batch_;
}

Batch QuestionData::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const Index first = number * batch_;
  return assemble(windows(split) - first, [&](Index row) { return window(split, first + row); });
}

}  // namespace weft::data
