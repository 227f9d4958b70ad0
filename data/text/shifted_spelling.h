#pragma once

#include "core/fields.h"
#include "data/plan.h"
#include "data/spelling/spelling.h"
#include "data/text/text_units.h"

namespace weft::data {

/// Bytes or characters as tokens after `first` special tokens: a unit's
/// token is its number plus `first`.
class ShiftedSpelling {
 public:
  ShiftedSpelling(Spelling spelling, core::Token first)
      : spelling_(std::move(spelling)), first_(first) {}
  /// Of bytes or characters, the latter being those that occur in `text`. Text that is
  /// not UTF-8 then is a data error that names `path`. A model that has been trained keeps its own.
  ShiftedSpelling(Unit unit, core::Token first, std::string text, const std::string& path,
                  const Meaning& known);

  core::Index vocabulary() const { return spelling_.vocabulary() + first_; }
  bool is_bytes() const { return spelling_.is_bytes(); }
  const Spelling& units() const { return spelling_; }
  core::Token first() const { return first_; }
  std::vector<core::Token> encode(std::string_view text) const;
  /// Tokens below `first` are left out.
  std::string decode(std::span<const core::Token> tokens) const;

 private:
  Spelling spelling_;
  core::Token first_;
};

/// Lists a setting `units`, bytes or characters.
void list_units(core::Fields& fields, Unit& unit);

}  // namespace weft::data
