#include "data/solvable/solvable.h"

#include "core/error.h"

namespace weft::data {

Solvable::Solvable(std::string_view name, const Sizes& sizes, Index length, Index batch,
                   std::uint64_t seed)
    : Generated(length, batch, sizes.held_out, visible_alphabet(sizes.vocabulary)),
      vocabulary_(sizes.vocabulary),
      answers_(sizes.answers),
      training_(core::Rng(seed).fold(core::message_of(name, " training"))),
      held_out_(core::Rng(0).fold(core::message_of(name, " held out"))) {}

core::Rng Solvable::stream(Split split, Index number) const {
  const core::Rng own = split == Split::training ? training_ : held_out_.fold(name_of(split));
  return own.fold(std::uint64_t(number));
}

}  // namespace weft::data
