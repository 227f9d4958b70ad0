#pragma once

#include "core/fields.h"

namespace weft::layers {

/// Whom the first and the last satellite have for neighbours: each other; nobody; or on their open
/// side a key and a value of zeros, which takes its share of the softmax.
enum class StarRing { open, cyclic, zero };

/// Where the norms are: after each update; or, as in the reference implementation, before the
/// ring's projections only, with a leaky relu.
enum class StarNorm { post, reference };

/// The cycles of a Star-Transformer.
struct StarSettings {
  StarRing ring = StarRing::open;
  StarNorm norm = StarNorm::post;
  bool tie = false;  ///< all cycles share their weights

  void fields(core::Fields& field);
};

}  // namespace weft::layers
