#include "data/tasks/classification.h"

#include <algorithm>

#include "core/error.h"
#include "data/windows.h"

namespace weft::data {

Batch batch_of(const std::vector<Example>& examples, Index batch, Index length, bool pads) {
  std::vector<Token> inputs(std::size_t(batch * length), 0);
  std::vector<Token> targets(std::size_t(batch), core::no_target);
  std::vector<Index> lengths(std::size_t(batch), 1);
  core::require(Index(examples.size()) <= batch, "data: ", examples.size(),
                " sequences in a batch of ", batch);
  for (std::size_t row = 0; row < examples.size(); ++row) {
    const auto size = Index(examples[row].tokens.size());
    core::require(size >= 1 && (size == length || (pads && size < length)), "data: a sequence of ",
                  size, " tokens does not fit in ", length);
    std::ranges::copy(examples[row].tokens, inputs.begin() + Index(row) * length);
    targets[row] = examples[row].label;
    lengths[row] = size;
  }
  Batch result;
  result.inputs = core::Tokens({batch, length}, std::move(inputs));
  result.targets = core::Tokens({batch, 1}, std::move(targets));
  if (pads) result.lengths = std::make_shared<const std::vector<Index>>(std::move(lengths));
  return result;
}

template <class Take>
Batch Classification::assemble(Index rows, Index count, Take take) const {
  std::vector<Example> examples;
  for (Index row = 0; row < std::min(count, rows); ++row) examples.push_back(take(row));
  return batch_of(examples, rows, length_, pads_);
}

Batch Classification::read_training(Index number, core::Stretch rows) const {
  const Index first = number * batch_ + rows.begin;
  return assemble(rows.size(), rows.size(),
                  [&](Index row) { return training_example(first + row); });
}

Index Classification::evaluation_batches(Split split, Index stride) const {
  check_stride(stride, length_);
  return (scored(split) + batch_ - 1) / batch_;
}

Batch Classification::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const Index first = number * batch_;
  return assemble(batch_, scored(split) - first,
                  [&](Index row) { return scored_example(split, first + row); });
}

std::vector<Baseline> Classification::baselines(Split split) const {
  return {{"majority", best_by(split, 1, [](const Example&) { return 0; })}};
}

}  // namespace weft::data
