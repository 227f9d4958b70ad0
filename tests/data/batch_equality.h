#pragma once

#include <algorithm>

#include "data/dataset.h"

namespace weft::data {

inline bool same(const core::Tokens& a, const core::Tokens& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.read(), b.read());
}

inline bool same(const core::Lengths& a, const core::Lengths& b) {
  return a && b ? *a == *b : a == b;
}

inline bool same(const Batch& a, const Batch& b) {
  return same(a.inputs, b.inputs) && same(a.targets, b.targets) && same(a.distances, b.distances) &&
         same(a.lengths, b.lengths) && same(a.sources, b.sources) &&
         same(a.source_lengths, b.source_lengths) && same(a.documents, b.documents);
}

}  // namespace weft::data
