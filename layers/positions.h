#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "layers/rotary.h"

namespace weft::layers {

/// How tokens know where they are: a learned table, fixed sinusoids, rotary turns inside
/// attention, or not at all.
class Positions {
 public:
  /// kind: learned | sinusoidal | rotary | none
  Positions(std::string_view kind, Index width, Index head_width, Index length);

  /// x: [B * T, W], tokens of each sequence at positions first .. first + T - 1.
  Var add(const Var& x, Index length, Index first) const;
  /// What attention turns its queries and keys with; null for other kinds.
  const std::shared_ptr<const Rotary>& rotary() const { return rotary_; }
  /// The longest sequence a learned table allows; nothing for kinds that allow any.
  std::optional<Index> longest() const;
  void visit(Inventory& inventory);

 private:
  std::optional<Parameter> table_;
  mutable Tensor sinusoids_;  ///< [length, W], grown when a longer sequence comes
  std::shared_ptr<const Rotary> rotary_;
};

}  // namespace weft::layers
