#pragma once

#include <algorithm>

#include "autograd/ops.h"
#include "layers/attention/contract/sequences.h"
#include "tests/golden/case.h"

namespace weft::golden {

/// The sequences of in/x [B, T, W] with in/lengths [B].
inline layers::Sequences padded_sequences(const Case& golden, bool causal) {
  const core::Shape shape = golden.shape("in/x");
  const auto real = golden.integers("in/lengths");
  layers::Sequences sequences = layers::Sequences::self(shape[0], shape[1], causal);
  sequences.key_lengths = std::make_shared<std::vector<Index>>(real.begin(), real.end());
  return sequences;
}

/// in/real [B]: rows as sequences of one token each, of which padding has none; experts then take
/// them in the order of rows.
inline layers::Sequences single_rows(const Case& golden) {
  const auto real = golden.integers("in/real");
  layers::Sequences rows = layers::Sequences::self(Index(real.size()), 1, true);
  rows.key_lengths = std::make_shared<std::vector<Index>>(real.begin(), real.end());
  return rows;
}

/// An array of the case as rows of its last axis.
inline core::Tensor rows_of(const Case& golden, const std::string& array) {
  const core::Shape shape = golden.shape(array);
  core::Tensor rows({shape.size() / shape.back(), shape.back()});
  std::ranges::copy(golden.numbers(array), rows.write().begin());
  return rows;
}

/// x with zeros in its rows of padding, which pass nothing back.  x: [B * T, W]
inline autograd::Var without_padding(const autograd::Var& x, const layers::Sequences& sequences) {
  auto real = std::make_shared<std::vector<Index>>();
  for (Index b = 0; b < sequences.batch; ++b)
    for (Index t = 0; t < sequences.real_keys(b); ++t) real->push_back(b * sequences.queries + t);
  return autograd::scatter_rows(autograd::gather_rows(x, real), real, x.shape()[0]);
}

}  // namespace weft::golden
