#pragma once

#include <vector>

#include "core/arrays/tensor.h"
#include "core/arrays/tokens.h"
#include "core/rng.h"

namespace weft::tests {

/// Standard normal numbers times `scale`, the same for the same shape and seed.
inline core::Tensor random_tensor(core::Shape shape, std::uint64_t seed, double scale = 1) {
  core::Tensor x(shape);
  core::fill_normal(x.write(), core::Rng(seed), scale);
  return x;
}

/// Ids drawn evenly from [0, vocabulary).
inline core::Tokens random_tokens(core::Shape shape, core::Index vocabulary, std::uint64_t seed) {
  const core::Rng rng(seed);
  std::vector<core::Token> ids;
  for (core::Index i = 0; i < shape.size(); ++i)
    ids.push_back(core::Token(rng.below(std::uint64_t(i), vocabulary)));
  return {shape, ids};
}

}  // namespace weft::tests
