#include "data/tasks/classification.h"

#include <algorithm>

#include "core/error.h"
#include "data/windows.h"

namespace weft::data {

/// A batch of the examples take(0) .. take(count - 1). A row without an example reads one token of
/// padding and scores nothing: no row is empty.
template <class Take>
Batch Classification::assemble(Index count, Take take) const {
  std::vector<Token> inputs(std::size_t(batch_ * length_), 0);
  std::vector<Token> targets(std::size_t(batch_), core::no_target);
  std::vector<Index> lengths(std::size_t(batch_), 1);
  for (Index row = 0; row < std::min(count, batch_); ++row) {
    const Example example = take(row);
    const auto size = Index(example.tokens.size());
    core::require(size >= 1 && (size == length_ || (pads_ && size < length_)),
                  "data: a sequence of ", size, " tokens does not fit in ", length_);
    std::ranges::copy(example.tokens, inputs.begin() + row * length_);
    targets[std::size_t(row)] = example.label;
    lengths[std::size_t(row)] = size;
  }
  Batch batch;
  batch.inputs = core::Tokens({batch_, length_}, std::move(inputs));
  batch.targets = core::Tokens({batch_, 1}, std::move(targets));
  if (pads_) batch.lengths = std::make_shared<const std::vector<Index>>(std::move(lengths));
  return batch;
}

Batch Classification::training(Index number) const {
  core::require(number >= 0, "data: training batch ", number, " does not exist");
  return assemble(batch_, [&](Index row) { return training_example(number * batch_ + row); });
}

Index Classification::evaluation_batches(Split split, Index stride) const {
  check_stride(stride, length_);
  return (scored(split) + batch_ - 1) / batch_;
}

Batch Classification::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const Index first = number * batch_;
  return assemble(scored(split) - first,
                  [&](Index row) { return scored_example(split, first + row); });
}

std::vector<Baseline> Classification::baselines(Split split) const {
  return {{"majority", best_by(split, 1, [](const Example&) { return 0; })}};
}

}  // namespace weft::data
