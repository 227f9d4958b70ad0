#include "data/solvable/duplicate.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"

namespace weft::data {

void DuplicateSettings::fields(core::Fields& fields, Index length) {
  fields.choice("form", form,
                "language: 0 w 0 w in one sequence; seq2seq: w as a source, w 0 as its target",
                {{"language", DuplicateForm::language}, {"seq2seq", DuplicateForm::seq2seq}});
  fields.integer("word", word,
                 "symbols in a word, with form = \"seq2seq\" in the longest; 0: as many as "
                 "data.length holds, with form = \"language\" twice",
                 core::at_least(0));
  fields.when("form", {"seq2seq"}, [&] {
    fields.integer("shortest", shortest, "symbols in the shortest word", core::at_least(1));
    if (word > 0 && shortest > word)
      fields.problem("shortest", core::message_of("must be at most data.word, ", word));
  });
  fields.integer("symbols", symbols, "different symbols in words; 0 separates words",
                 core::between(1, 50000));
  list_held_out(fields, held_out);
  const Index needed = pairs() ? std::max(word, shortest) + 1 : 2 * (std::max<Index>(word, 1) + 1);
  if (length < needed)
    fields.problem("length", core::message_of("must be at least ", needed,
                                              pairs() ? ", so that a word and its end fit in"
                                                      : ", so that 0 and a word fit in twice"));
}

DataPlan configure_duplicate(core::Fields& fields, Index length) {
  DuplicateSettings settings;
  settings.fields(fields, length);
  return settings.pairs() ? plan_for<DuplicatePairs>(settings, length, {.sources = true})
                          : plan_for<Duplicate>(settings, length);
}

RepeatedWords::RepeatedWords(const DuplicateSettings& settings, std::string_view name, Index length,
                             Index batch, std::uint64_t seed)
    : Solvable(name, {settings.held_out, settings.symbols + 1, settings.symbols}, length, batch,
               seed),
      settings_(settings) {}

Token RepeatedWords::symbol(const core::Rng& stream, std::size_t i) const {
  return Token(1 + stream.below(i, settings_.symbols));
}

Duplicate::Duplicate(const DuplicateSettings& settings, Index length, Index batch,
                     std::uint64_t seed)
    : RepeatedWords(settings, "duplicate", length, batch, seed),
      word_(settings.word > 0 ? settings.word : length / 2 - 1) {
  core::require(word_ >= 1 && 2 * (word_ + 1) <= length, "duplicate: two words of ", word_,
                " symbols do not fit a sequence of ", length,
                "; make data.length at least twice data.word + 1");
}

void Duplicate::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const auto inputs = rows.inputs(row), targets = rows.targets(row);
  const auto half = std::size_t(word_ + 1);
  for (std::size_t i = 1; i < half; ++i) inputs[i] = inputs[half + i] = symbol(stream, i);
  for (std::size_t t = half - 1; t + 1 < 2 * half; ++t) targets[t] = inputs[t + 1];
}

std::string Duplicate::fingerprint() const {
  return fingerprint_of(core::message_of("duplicate length=", length(), " word=", word_,
                                         " symbols=", settings().symbols,
                                         " held_out=", settings().held_out));
}

DuplicatePairs::DuplicatePairs(const DuplicateSettings& settings, Index length, Index batch,
                               std::uint64_t seed)
    : RepeatedWords(settings, "duplicate pairs", length, batch, seed),
      longest_(settings.word > 0 ? settings.word : length - 1) {
  core::require(longest_ >= settings.shortest && settings.shortest >= 1 && longest_ + 1 <= length,
                "duplicate: words of ", settings.shortest, " to ", longest_,
                " symbols and their end do not fit targets of ", length, " tokens");
}

void DuplicatePairs::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const Index shortest = settings().shortest;
  const Index word = shortest + Index(stream.fold("length").below(0, longest_ - shortest + 1));
  const auto source = rows.source(row, word, longest_);
  const auto inputs = rows.inputs(row), targets = rows.targets(row);
  for (std::size_t i = 0; i < std::size_t(word); ++i)
    source[i] = inputs[i + 1] = targets[i] = symbol(stream, i);
  targets[std::size_t(word)] = *boundary();
}

std::string DuplicatePairs::fingerprint() const {
  return fingerprint_of(core::message_of(
      "duplicate pairs length=", length(), " words=", settings().shortest, "..", longest_,
      " symbols=", settings().symbols, " held_out=", settings().held_out));
}

}  // namespace weft::data
