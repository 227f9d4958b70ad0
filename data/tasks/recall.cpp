#include "data/tasks/recall.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/tasks/characters.h"

namespace weft::data {
namespace {

/// Letters for ordinary symbols; digits and capitals for keys.
Alphabet characters_for(Index symbols, Index keys) {
  std::vector<char32_t> characters;
  append_letters(characters, symbols);
  append_signs(characters, keys);
  return Alphabet(std::move(characters));
}

}  // namespace

DataPlan configure_recall(core::Fields& fields, Index length) {
  RecallSettings settings;
  settings.fields(fields, length);
  return plan_for<Recall>(settings, length, {.streams = settings.stream > 0});
}

Recall::Recall(const RecallSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Generated(length, batch, settings.held_out, characters_for(settings.symbols, settings.keys),
                segments_of(settings.stream, length)),
      settings_(settings),
      source_(settings, std::max(length, settings.stream)),
      training_(core::Rng(seed).fold("recall training")) {}

core::Rng Recall::stream(Split split, Index number) const {
  if (split == Split::training) return training_.fold(std::uint64_t(number));
  const core::Rng held_out = core::Rng(std::uint64_t(settings_.language)).fold("recall held out");
  return held_out.fold(name_of(split)).fold(std::uint64_t(number));
}

void Recall::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const RecallDraw drawn = draw_sequence(source_, stream);
  std::copy(drawn.symbols.begin(), drawn.symbols.end() - 1, rows.inputs(row).begin());
  std::copy(drawn.symbols.begin() + 1, drawn.symbols.end(), rows.targets(row).begin());
  std::copy(drawn.distances.begin() + 1, drawn.distances.end(), rows.distances(row).begin());
}

std::optional<double> Recall::floor_bits(Split split) const {
  double bits = 0;
  for (Index i = 0; i < held_out(); ++i) bits += draw_sequence(source_, stream(split, i)).bits;
  return bits / double(held_out() * source_.length());
}

std::string Recall::fingerprint() const {
  const RecallSettings& s = settings_;
  return fingerprint_of(core::message_of(
      "recall length=", source_.length(), " symbols=", s.symbols, " keys=", s.keys,
      " payload=", s.payload, " gap=", s.gap, " successors=", s.successors, " source=", s.language,
      " held_out=", s.held_out, s.stream > 0 ? core::message_of(" segment=", length()) : ""));
}

}  // namespace weft::data
