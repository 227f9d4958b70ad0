#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "layers/parts/rotary.h"

namespace weft::layers {

/// A grid of n1 rows and n2 columns, walked row by row: position p has row p / n2 of a table
/// [n1, d1] beside row p % n2 of a table [n2, d2], with d1 + d2 = W.
struct AxialGrid {
  Index n1 = 1, n2 = 1, d1 = 1, d2 = 1;
};

/// How tokens know where they are: a learned table, two learned tables over a grid, fixed
/// sinusoids, rotary turns inside attention, or not at all.
class Positions {
 public:
  /// kind: learned | axial | sinusoidal | rotary | none
  Positions(std::string_view kind, Index width, Index head_width, Index length,
            const AxialGrid& grid = {});

  /// x: [B * T, W], tokens of each sequence at positions first .. first + T - 1.
  Var add(const Var& x, Index length, Index first) const;
  /// What attention turns its queries and keys with; null for other kinds.
  const std::shared_ptr<const Rotary>& rotary() const { return rotary_; }
  /// The longest sequence that learned tables allow; nothing for kinds that allow any.
  std::optional<Index> longest() const;
  void visit(Inventory& inventory);

 private:
  std::optional<Parameter> table_, rows_, columns_;
  mutable Tensor sinusoids_;  ///< [length, W], grown when a longer sequence comes
  std::shared_ptr<const Rotary> rotary_;
};

}  // namespace weft::layers
