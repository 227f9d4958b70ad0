#include "data/solvable/copying.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/tasks/draws.h"

namespace weft::data {
namespace {

constexpr Token blank = 0, ask = 1, first_symbol = 2;

}  // namespace

void CopyingSettings::fields(core::Fields& fields, Index length) {
  fields.integer("symbols", symbols,
                 "different symbols; two more tokens are the blank and the signal to copy",
                 core::between(1, 50000));
  fields.integer("word", word, "symbols to copy, at random places among blanks", core::at_least(1));
  list_held_out(fields, held_out);
  if (length < 2 * word)
    fields.problem("length", core::message_of("must be at least ", 2 * word, ", so that a word of ",
                                              word, " and its copy fit in"));
}

DataPlan configure_copying(core::Fields& fields, Index length) {
  CopyingSettings settings;
  settings.fields(fields, length);
  return plan_for<Copying>(settings, length);
}

Copying::Copying(const CopyingSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Solvable("copying", {settings.held_out, settings.symbols + first_symbol, settings.symbols},
               length, batch, seed),
      settings_(settings) {
  core::require(settings.word >= 1 && 2 * settings.word <= length, "copying: a word of ",
                settings.word, " and its copy do not fit a sequence of ", length,
                "; make data.length at least ", 2 * std::max<Index>(1, settings.word));
}

void Copying::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const auto inputs = rows.inputs(row), targets = rows.targets(row),
             distances = rows.distances(row);
  std::ranges::fill(inputs, blank);
  const Index before = length() - settings_.word;
  auto places = choose_below(before, settings_.word, stream.fold("places"));
  std::ranges::sort(places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto from = std::size_t(places[i]), to = std::size_t(before) + i;
    inputs[from] = targets[to] = Token(first_symbol + stream.below(i, settings_.symbols));
    inputs[to] = ask;
    distances[to] = Token(to - from);
  }
}

std::string Copying::fingerprint() const {
  return fingerprint_of(core::message_of("copying length=", length(), " word=", settings_.word,
                                         " symbols=", settings_.symbols,
                                         " held_out=", settings_.held_out));
}

}  // namespace weft::data
