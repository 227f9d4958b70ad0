#pragma once

#include "layers/model/classifier.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::roots {

inline constexpr Index vocabulary = 11, length = 9, classes = 3;
inline const std::vector<Index> real = {9, 4, 1};

/// A star, or layers whose rows are the nodes of a binary tree over the tokens.
inline ModelSettings classifying(Pool pool, bool star) {
  ModelSettings settings = small_settings();
  settings.task = Task::classify;
  settings.pool = pool;
  settings.head = ClassHeadKind::linear;
  settings.causal = false;
  if (star)
    settings.trunk = TrunkKind::star;
  else
    settings.attention = {"bp"};
  return settings;
}

inline Reading padded_reading(std::uint64_t padding = 5) {
  std::vector<core::Token> ids;
  for (std::size_t row = 0; row < real.size(); ++row)
    for (Index t = 0; t < length; ++t) {
      const core::Rng from(t < real[row] ? 1 : padding);
      ids.push_back(core::Token(from.fold(row).below(std::uint64_t(t), vocabulary)));
    }
  Reading reading{core::Tokens({Index(real.size()), length}, ids), core::Tokens({3, 1}, {0, 2, 1})};
  reading.lengths = std::make_shared<const std::vector<Index>>(real);
  return reading;
}

}  // namespace weft::layers::roots
