#include "data/tokens/token_runs.h"

#include <algorithm>

#include "core/available_memory.h"
#include "core/error.h"
#include "core/out_of_memory.h"

namespace weft::data {

void MemoryRuns::begin(Index vocabulary, Index least) {
  width_ = token_width(vocabulary);
  runs_.assign(3, PackedTokens(vocabulary));
  reserve(runs_.front(), least);
}

/// Asks first: a system that promises more than it has would end the process later.
void MemoryRuns::reserve(PackedTokens& run, Index size) const {
  constexpr Index small = 1 << 20;
  const Index bytes = size * width_;
  try {
    if (bytes <= small || bytes <= core::available_memory()) return run.reserve(size);
  } catch (const std::bad_alloc&) {
  }
  throw core::OutOfMemory(
      core::message_of("out of memory: the tokens of '", text_, "' take ", (bytes >> 20) + 1,
                       " MiB or more, which are not free"),
      core::message_of("Prepare the text once, which takes little memory, and train on the file: "
                       "weft data prepare ",
                       text_,
                       " -o FILE.h5, with the same units and documents, then "
                       "data.path=FILE.h5"));
}

void MemoryRuns::store(Split split, std::span<const Token> tokens) {
  PackedTokens& run = runs_[std::size_t(split)];
  const Index needed = run.size() + Index(tokens.size());
  if (needed > run.capacity()) reserve(run, std::max(needed, run.size() + run.size() / 2));
  run.append(tokens);
}

PackedTokens MemoryRuns::take() {
  PackedTokens& all = runs_[0];
  if (size() > all.capacity()) reserve(all, size());
  for (const std::size_t other : {1, 2}) {
    all.append(runs_[other]);
    runs_[other] = PackedTokens(1);
  }
  return std::move(all);
}

}  // namespace weft::data
