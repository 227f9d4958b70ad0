#pragma once

#include "core/arrays/tokens.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// How the value of a pixel enters a model: by its row of the token table alone, or also as the
/// number that it is, so that near values are near from the start.
enum class PixelInput { both, table };

/// Adds w (2 v / (levels - 1) - 1) to each token that is a value v; tokens after the values have
/// no such number.  w: [W]
class PixelNumber {
 public:
  PixelNumber(Index levels, Index width, Init init) : levels_(levels), weight_({width}, init) {}

  /// x: [N, W], tokens: N
  Var add(const Var& x, const core::Tokens& tokens) const;
  void visit(Inventory& inventory) { inventory.add("weight", weight_); }

 private:
  Index levels_;
  Parameter weight_;
};

}  // namespace weft::layers
