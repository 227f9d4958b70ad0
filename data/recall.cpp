#include "data/recall.h"

#include <algorithm>

#include "core/error.h"
#include "data/batch_rows.h"
#include "data/fingerprint.h"
#include "data/windows.h"

namespace weft::data {
namespace {

/// Letters for ordinary symbols, then ideographs; digits and capitals for keys, then Hangul.
Alphabet characters_for(Index symbols, Index keys) {
  core::require(symbols <= 10000 && keys <= 10000, "recall: at most 10000 symbols and keys, got ",
                symbols, " and ", keys);
  std::vector<char32_t> characters;
  for (char32_t i = 0; i < char32_t(symbols); ++i) {
    characters.push_back(i < 26 ? U'a' + i : 0x4e00 + (i - 26));
  }
  for (char32_t i = 0; i < char32_t(keys); ++i) {
    characters.push_back(i < 10 ? U'0' + i : i < 36 ? U'A' + (i - 10) : 0xac00 + (i - 36));
  }
  return Alphabet(std::move(characters));
}

}  // namespace

Recall::Recall(const RecallSettings& settings, Index length, Index batch, std::uint64_t seed)
    : settings_(settings),
      batch_(batch),
      source_(settings, length),
      alphabet_(characters_for(settings.symbols, settings.keys)),
      training_(core::Rng(seed).fold("recall training")) {
  core::require(settings.held_out >= 1, "data.held_out must be at least 1, got ",
                settings.held_out);
}

RecallDraw Recall::sequence(Split split, Index number) const {
  const auto part = std::uint64_t(number);
  if (split == Split::training) return draw_sequence(source_, training_.fold(part));
  const core::Rng held_out = core::Rng(std::uint64_t(settings_.source)).fold("recall held out");
  return draw_sequence(source_, held_out.fold(name_of(split)).fold(part));
}

/// The sequences begin .. end - 1 of a split, and padding up to a whole batch.
Batch Recall::sequences(Split split, Index begin, Index end) const {
  BatchRows rows(batch_, source_.length());
  rows.distances(0);
  for (Index row = 0; begin + row < end; ++row) {
    const RecallDraw drawn = sequence(split, begin + row);
    std::copy(drawn.symbols.begin(), drawn.symbols.end() - 1, rows.inputs(row).begin());
    std::copy(drawn.symbols.begin() + 1, drawn.symbols.end(), rows.targets(row).begin());
    std::copy(drawn.distances.begin() + 1, drawn.distances.end(), rows.distances(row).begin());
  }
  return std::move(rows).finish();
}

Batch Recall::training(Index number) const {
  core::require(number >= 0, "data: training batch ", number, " does not exist");
  return sequences(Split::training, number * batch_, (number + 1) * batch_);
}

Index Recall::evaluation_batches(Split, Index stride) const {
  check_stride(stride, source_.length());
  return (settings_.held_out + batch_ - 1) / batch_;
}

Batch Recall::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  return sequences(split, number * batch_, std::min((number + 1) * batch_, settings_.held_out));
}

std::optional<double> Recall::floor_bits(Split split) const {
  double bits = 0;
  for (Index i = 0; i < settings_.held_out; ++i) bits += sequence(split, i).bits;
  return bits / double(settings_.held_out * source_.length());
}

std::string Recall::fingerprint() const {
  const RecallSettings& s = settings_;
  return fingerprint_of(core::message_of("recall length=", source_.length(), " symbols=", s.symbols,
                                         " keys=", s.keys, " payload=", s.payload, " gap=", s.gap,
                                         " successors=", s.successors, " source=", s.source,
                                         " held_out=", s.held_out));
}

}  // namespace weft::data
