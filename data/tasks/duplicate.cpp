#include "data/tasks/duplicate.h"

#include "core/error.h"
#include "data/fingerprint.h"

namespace weft::data {

Duplicate::Duplicate(const DuplicateSettings& settings, Index length, Index batch,
                     std::uint64_t seed)
    : Generated(length, batch, settings.held_out, visible_alphabet(settings.symbols + 1)),
      settings_(settings),
      word_(settings.word_in(length)),
      seed_(seed) {
  core::require(word_ >= 1 && 2 * (word_ + 1) <= length, "duplicate: two words of ", word_,
                " symbols do not fit a sequence of ", length,
                "; make data.length at least twice data.word + 1");
}

core::Rng Duplicate::stream(Split split, Index number) const {
  const core::Rng own = split == Split::training
                            ? core::Rng(seed_).fold("duplicate training")
                            : core::Rng(0).fold("duplicate held out").fold(name_of(split));
  return own.fold(std::uint64_t(number));
}

void Duplicate::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const auto inputs = rows.inputs(row), targets = rows.targets(row);
  const auto half = std::size_t(word_ + 1);
  for (std::size_t i = 1; i < half; ++i)
    inputs[i] = inputs[half + i] = Token(1 + stream.below(i, settings_.symbols));
  for (std::size_t t = half - 1; t + 1 < 2 * half; ++t) targets[t] = inputs[t + 1];
}

std::string Duplicate::fingerprint() const {
  return fingerprint_of(core::message_of("duplicate length=", length(), " word=", word_,
                                         " symbols=", settings_.symbols,
                                         " held_out=", settings_.held_out));
}

}  // namespace weft::data
