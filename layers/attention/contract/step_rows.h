#pragma once

#include <algorithm>
#include <vector>

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// One row that a part decodes: what its sequence has left in the part so far, which the row goes
/// on with, and its position. Null where a part keeps nothing.
struct StepRow {
  DecodeState* state;
  Index position = 0;
};

/// Rows that are decoded together, each with the bits that it has alone: tokens of several
/// sequences, or several tokens of one, which follow each other.
using StepRows = std::vector<StepRow>;

/// Tensor [n, columns] of `make(row)`, each [1, columns], for rows 0 .. n - 1 in turn.
template <class Make>
Tensor stacked_rows(Index n, Index columns, const Make& make) {
  Tensor all({n, columns});
  for (Index r = 0; r < n; ++r) {
    const Tensor one = make(r);
    std::copy_n(one.data(), columns, all.write().data() + r * columns);
  }
  return all;
}

}  // namespace weft::layers
