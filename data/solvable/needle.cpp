#include "data/solvable/needle.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/tasks/draws.h"

namespace weft::data {
namespace {

/// The index that a number in [0, 1) falls on, each with its probability.
std::size_t pick(std::span<const double> probabilities, double uniform) {
  for (std::size_t i = 0; i + 1 < probabilities.size(); ++i) {
    uniform -= probabilities[i];
    if (uniform < 0) return i;
  }
  return probabilities.size() - 1;
}

}  // namespace

void NeedleSettings::fields(core::Fields& fields, Index length) {
  fields.integer("symbols", symbols, "symbols of the text around the needles",
                 core::between(2, 25000));
  fields.integer("successors", successors, "symbols that may follow a symbol of that text",
                 core::at_least(1));
  fields.integer("keys", keys, "different keys that name needles", core::between(1, 25000));
  fields.integer("needles", needles, "needles in a sequence, one of which is asked for",
                 core::at_least(1));
  fields.integer("payload", payload, "symbols that follow a needle's key, to be recalled",
                 core::at_least(1));
  fields.integer("language", language,
                 "number of the text's language: each number gives different transitions",
                 core::at_least(0));
  list_held_out(fields, held_out);
  if (successors > symbols)
    fields.problem("successors", core::message_of("must be at most symbols, which is ", symbols));
  if (needles > keys)
    fields.problem("needles", core::message_of("must be at most keys, which is ", keys));
  const Index needed = (needles + 1) * slot();
  if (length < needed)
    fields.problem("length", core::message_of("must be at least ", needed, ", so that ", needles,
                                              " needles and the question fit in"));
}

DataPlan configure_needle(core::Fields& fields, Index length) {
  NeedleSettings settings;
  settings.fields(fields, length);
  return plan_for<Needle>(settings, length);
}

Needle::Needle(const NeedleSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Solvable("needle",
               {settings.held_out, settings.symbols + 1 + settings.keys, settings.symbols}, length,
               batch, seed),
      settings_(settings),
      slots_(length / std::max<Index>(1, settings.slot()) - 1),
      chain_(settings.symbols, settings.successors,
             core::Rng(std::uint64_t(settings.language)).fold("recall source")),
      first_(chain_.stationary()) {
  core::require(settings.needles >= 1 && settings.needles <= settings.keys && settings.payload >= 1,
                "needle: needs at least one needle, a payload, and a key for every needle");
  core::require(slots_ >= settings.needles, "needle: ", settings.needles,
                " needles and the question do not fit a sequence of ", length,
                "; make data.length at least ", (settings.needles + 1) * settings.slot());
}

void Needle::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const auto inputs = rows.inputs(row), targets = rows.targets(row),
             distances = rows.distances(row);
  const auto slot = std::size_t(settings_.slot()), payload = std::size_t(settings_.payload);
  const auto slots = choose_below(slots_, settings_.needles, stream.fold("slots"));
  const auto keys = choose_below(settings_.keys, settings_.needles, stream.fold("keys"));
  const core::Rng drawn = stream.fold("symbols");
  const std::size_t question = inputs.size() - slot;
  for (std::size_t t = 0; t < question;) {
    const auto needle = t % slot == 0 ? std::ranges::find(slots, Token(t / slot)) : slots.end();
    if (needle == slots.end()) {
      const double uniform = drawn.uniform(t);
      inputs[t] = t == 0 ? Token(pick(first_, uniform))
                         : chain_.successors(inputs[t - 1])[pick(chain_.probabilities(), uniform)];
      ++t;
      continue;
    }
    inputs[t] = mark();
    inputs[t + 1] = mark() + 1 + keys[std::size_t(needle - slots.begin())];
    for (std::size_t i = 0; i < payload; ++i)
      inputs[t + 2 + i] = Token(drawn.below(t + 2 + i, settings_.symbols));
    t += slot;
  }
  const std::size_t asked = std::size_t(slots.front()) * slot;
  std::copy_n(inputs.begin() + std::ptrdiff_t(asked), slot - 1,
              inputs.begin() + std::ptrdiff_t(question));
  for (std::size_t i = 0; i < payload; ++i) {
    targets[question + 1 + i] = inputs[asked + 2 + i];
    distances[question + 1 + i] = Token(question - asked);
  }
}

std::string Needle::fingerprint() const {
  const NeedleSettings& s = settings_;
  return fingerprint_of(core::message_of("needle length=", length(), " symbols=", s.symbols,
                                         " successors=", s.successors, " keys=", s.keys,
                                         " needles=", s.needles, " payload=", s.payload,
                                         " language=", s.language, " held_out=", s.held_out));
}

}  // namespace weft::data
