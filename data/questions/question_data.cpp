#include "data/questions/question_data.h"

#include <algorithm>

#include "core/error.h"
#include "data/windows.h"

namespace weft::data {

/// A batch of the windows take(0) .. take(count - 1). A row without a window reads two tokens of
/// padding, the second as its document, and lists no answer.
template <class Take>
Batch QuestionData::assemble(Index count, Take take) const {
  std::vector<Token> inputs(std::size_t(batch_ * length_), 0);
  std::vector<Token> targets(std::size_t(batch_ * answers_ * 2), core::no_target);
  std::vector<Token> documents(std::size_t(batch_ * 2), 1);
  std::vector<Index> lengths(std::size_t(batch_), 2);
  for (Index row = 0; row < std::min(count, batch_); ++row) {
    const QuestionWindow window = take(row);
    const auto size = Index(window.tokens.size());
    core::require(size == length_ || (pads_ && size < length_), "data: a window of ", size,
                  " tokens does not fit in ", length_);
    core::require(Index(window.answers.size()) <= answers_, "data: ", window.answers.size(),
                  " answers in a window, at most ", answers_, " were expected");
    std::ranges::copy(window.tokens, inputs.begin() + row * length_);
    auto target = targets.begin() + row * answers_ * 2;
    for (const auto& [first, last] : window.answers) {
      *target++ = Token(first);
      *target++ = Token(last);
    }
    documents[std::size_t(2 * row)] = Token(window.document);
    documents[std::size_t(2 * row + 1)] = Token(size - 1);
    lengths[std::size_t(row)] = size;
  }
  Batch batch;
  batch.inputs = core::Tokens({batch_, length_}, std::move(inputs));
  batch.targets = core::Tokens({batch_, answers_, 2}, std::move(targets));
  batch.documents = core::Tokens({batch_, 2}, std::move(documents));
  if (pads_) batch.lengths = std::make_shared<const std::vector<Index>>(std::move(lengths));
  return batch;
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
