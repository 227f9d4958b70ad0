#include "data/questions/question_data.h"

#include <algorithm>

#include "core/error.h"
#include "data/windows.h"

namespace weft::data {

template <class Take>
Batch QuestionData::assemble(Index rows, Index count, Take take) const {
  std::vector<QuestionWindow> windows;
  for (Index row = 0; row < std::min(count, rows); ++row) windows.push_back(take(row));
  return batch_of(windows, rows, length_, answers_, pads_);
}

Batch QuestionData::read_training(Index number, core::Stretch rows) const {
  const Index first = number * batch_ + rows.begin;
  return assemble(rows.size(), rows.size(),
                  [&](Index row) { return training_window(first + row); });
}

Index QuestionData::evaluation_batches(Split split, Index stride) const {
  check_stride(stride, length_);
  return (windows(split) + batch_ - 1) / batch_;
}

Batch QuestionData::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const Index first = number * batch_;
  return assemble(batch_, windows(split) - first,
                  [&](Index row) { return window(split, first + row); });
}

}  // namespace weft::data
