#pragma once

#include "core/fields.h"

namespace weft::layers {

using core::Index;

/// What decides how many steps a position takes: nothing, all take every step; or each position, by
/// adaptive computation time.
enum class Halting { none, act };

/// How the steps of a position are combined: the sum of their weighted results; or at each step a
/// mix of its result with what there was.
enum class HaltCombine { accumulate, mix };

/// The depth of a Universal Transformer.
struct UniversalSettings {
  Index steps = 0;  ///< how often the layers run; 0: once, as in any Transformer
  Halting halting = Halting::none;
  double epsilon = 0.01;
  double price = 0.01;
  double bias = -1;  ///< of the halting unit at the start
  HaltCombine combine = HaltCombine::accumulate;
  bool freeze = true;

  bool chosen() const { return steps > 0; }
  bool halts() const { return chosen() && halting == Halting::act; }
  void fields(core::Fields& field);
};

}  // namespace weft::layers
