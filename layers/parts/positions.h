#pragma once

#include <memory>
#include <optional>

#include "core/arrays/image_form.h"
#include "layers/attention/contract/position_kind.h"
#include "layers/parts/rotary.h"

namespace weft::layers {

/// A grid of n1 rows and n2 columns, walked row by row: position p has row p / n2 of a table
/// [n1, d1] next to row p % n2 of a table [n2, d2], with d1 + d2 = W.
struct AxialGrid {
  Index n1 = 1, n2 = 1, d1 = 1, d2 = 1;
};

/// How positions are represented: a learned table, two learned tables over a grid, tables of the
/// rows, columns and channels of an image that are added, fixed sinusoids, rotary turns inside
/// attention, or not at all.
class Positions {
 public:
  /// Kinds that act inside attention add nothing to tokens. In an image, position t is that of
  /// its value t; where sequences are longer, the places before the image have no position.
  Positions(PositionKind kind, Index width, Index head_width, Index length,
            const AxialGrid& grid = {}, const std::optional<core::ImageForm>& image = {});

  /// x: [B * T, W], tokens of each sequence at positions first .. first + T - 1.
  Var add(const Var& x, Index length, Index first) const;
  /// The rotation of queries and keys; null for other kinds of positions.
  const std::shared_ptr<const Rotary>& rotary() const { return rotary_; }
  /// The longest sequence that learned tables allow; nothing for kinds that allow any.
  std::optional<Index> longest() const;
  void visit(Inventory& inventory);

 private:
  Var add_image(Var x, Index length, Index first) const;

  std::optional<Parameter> table_, rows_, columns_, channels_;
  Index before_ = 0;          ///< places before an image
  mutable Tensor sinusoids_;  ///< [length, W], grown when a longer sequence comes
  std::shared_ptr<const Rotary> rotary_;
};

}  // namespace weft::layers
