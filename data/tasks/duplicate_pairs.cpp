#include "data/tasks/duplicate_pairs.h"

#include "core/error.h"
#include "data/fingerprint.h"

namespace weft::data {

DuplicatePairs::DuplicatePairs(const DuplicateSettings& settings, Index length, Index batch,
                               std::uint64_t seed)
    : Generated(length, batch, settings.held_out, visible_alphabet(settings.symbols + 1)),
      settings_(settings),
      longest_(settings.longest_in(length)),
      seed_(seed) {
  core::require(longest_ >= settings.shortest && settings.shortest >= 1 && longest_ + 1 <= length,
                "duplicate: words of ", settings.shortest, " to ", longest_,
                " symbols and their end do not fit targets of ", length, " tokens");
}

core::Rng DuplicatePairs::stream(Split split, Index number) const {
  const core::Rng own = split == Split::training
                            ? core::Rng(seed_).fold("duplicate pairs training")
                            : core::Rng(0).fold("duplicate pairs held out").fold(name_of(split));
  return own.fold(std::uint64_t(number));
}

void DuplicatePairs::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const Index lengths = longest_ - settings_.shortest + 1;
  const Index word = settings_.shortest + Index(stream.fold("length").below(0, lengths));
  const auto source = rows.source(row, word, longest_);
  const auto inputs = rows.inputs(row), targets = rows.targets(row);
  for (std::size_t i = 0; i < std::size_t(word); ++i)
    source[i] = inputs[i + 1] = targets[i] = Token(1 + stream.below(i, settings_.symbols));
  targets[std::size_t(word)] = *boundary();
}

std::string DuplicatePairs::fingerprint() const {
  return fingerprint_of(
      core::message_of("duplicate pairs length=", length(), " words=", settings_.shortest, "..",
                       longest_, " symbols=", settings_.symbols, " held_out=", settings_.held_out));
}

}  // namespace weft::data
