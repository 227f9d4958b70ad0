#include "data/questions/facts.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/tasks/characters.h"
#include "data/tasks/draws.h"
#include "data/tasks/generated.h"

namespace weft::data {
namespace {

/// Padding, CLS, SEP, IS, LINK and END are punctuation, keys digits and capitals, symbols letters.
Alphabet characters_for(Index keys, Index symbols) {
  std::vector<char32_t> characters = {U'_', U'?', U':', U'=', U'>', U';'};
  append_signs(characters, keys);
  append_letters(characters, symbols);
  return Alphabet(std::move(characters));
}

}  // namespace

void FactsSettings::fields(core::Fields& fields, Index length) {
  fields.integer("keys", keys, "different keys", core::between(1, 10000));
  fields.integer("symbols", symbols, "symbols of values and filler", core::between(2, 10000));
  fields.integer("facts", facts, "keys with a fact in a document", core::between(1, 10000));
  fields.integer("value", value, "most symbols of a value; the fewest are 1", core::at_least(1));
  fields.integer("hops", hops,
                 "1: the key asked for has the value; 2: it names another key, which has it",
                 core::between(1, 2));
  fields.number("unanswerable", unanswerable,
                "share of questions about a key that is not in the document", core::between(0, 1));
  list_held_out(fields, held_out);
  if (facts > keys)
    fields.problem("facts", core::message_of("must be at most data.keys, ", keys));
  else if (facts == keys && unanswerable > 0)
    fields.problem("unanswerable",
                   "needs a key that a document lacks: 0, or data.facts below "
                   "data.keys");
  if (facts % std::max<Index>(hops, 1) != 0)
    fields.problem("facts", "two hops need pairs of keys: an even number");
  if (const Index needed = 3 + most_fact_tokens(); length < needed)
    fields.problem("length", core::message_of("must be at least ", needed,
                                              ", so that the question and all facts fit in"));
}

DataPlan configure_facts(core::Fields& fields, Index length) {
  FactsSettings settings;
  settings.fields(fields, length);
  return plan_for<Facts>(settings, length, {.asks = true});
}

Facts::Facts(const FactsSettings& settings, Index length, Index batch, std::uint64_t seed)
    : QuestionData(length, batch, false, 1),
      settings_(settings),
      language_(settings.symbols),
      alphabet_(characters_for(settings.keys, settings.symbols)),
      seed_(seed) {
  core::require(settings.facts >= 1 && settings.facts <= settings.keys &&
                    (settings.hops == 1 || (settings.hops == 2 && settings.facts % 2 == 0)) &&
                    (settings.unanswerable <= 0 || settings.facts < settings.keys),
                "facts: ", settings.facts, " facts of ", settings.keys, " keys with ",
                settings.hops, " hops are impossible");
  core::require(3 + settings.most_fact_tokens() <= length, "facts: ", settings.facts,
                " facts need sequences of at least ", 3 + settings.most_fact_tokens(),
                " tokens, got ", length);
}

std::vector<std::vector<Token>> Facts::draw_facts(const std::vector<Index>& keys,
                                                  const core::Rng& stream) const {
  const core::Rng lengths = stream.fold("value lengths"), symbols = stream.fold("values");
  const Index values = settings_.values();
  const auto key = [&](Index i) { return first_key + Token(keys[std::size_t(i)]); };
  std::vector<std::vector<Token>> facts;
  for (Index i = 0; i < settings_.facts; ++i) {
    std::vector<Token>& fact = facts.emplace_back();
    fact = {key(i), i < values ? is : link};
    if (i < values) {
      const Index size = 1 + lengths.below(std::uint64_t(i), settings_.value);
      for (Index s = 0; s < size; ++s)
        fact.push_back(first_symbol() + Token(symbols.below(std::uint64_t(i * settings_.value + s),
                                                            settings_.symbols)));
    } else {
      fact.push_back(key(i - values));
    }
    fact.push_back(end);
  }
  return facts;
}

QuestionWindow Facts::draw(const core::Rng& stream) const {
  const Index count = settings_.facts, values = settings_.values();
  const std::vector<Index> keys = drawn_order(settings_.keys, stream.fold("keys"));
  const std::vector<std::vector<Token>> facts = draw_facts(keys, stream);
  Index filler = length() - 3;
  for (const auto& fact : facts) filler -= Index(fact.size());
  const core::Rng asking = stream.fold("question");
  const bool answerable = asking.uniform(0) >= settings_.unanswerable;
  const Index asked =
      answerable ? asking.below(1, values) : count + asking.below(1, settings_.keys - count);
  const Index named = answerable && settings_.hops == 2 ? values + asked : asked;
  QuestionWindow window{{cls, first_key + Token(keys[std::size_t(named)]), separator}, 3, {}};
  const std::set<Index> cuts = drawn_choice(count, filler + count, stream.fold("cuts"));
  const std::vector<Index> order = drawn_order(count, stream.fold("order"));
  ChainWalk walk(language_, stream.fold("filler"));
  for (Index place = 0, next = 0; place < filler + count; ++place) {
    if (!cuts.contains(place)) {
      window.tokens.push_back(first_symbol() + walk.next());
      continue;
    }
    const Index fact = order[std::size_t(next++)];
    const auto& own = facts[std::size_t(fact)];
    const auto begin = Index(window.tokens.size());
    if (answerable && fact == asked) window.answers = {{begin + 2, begin + Index(own.size()) - 2}};
    window.tokens.insert(window.tokens.end(), own.begin(), own.end());
  }
  if (window.answers.empty()) window.answers = {{0, 0}};
  return window;
}

QuestionWindow Facts::training_window(Index number) const {
  return draw(core::Rng(seed_).fold("facts training").fold(std::uint64_t(number)));
}

QuestionWindow Facts::window(Split split, Index number) const {
  if (split == Split::training) return training_window(number);
  return draw(core::Rng(0).fold("facts held out").fold(name_of(split)).fold(std::uint64_t(number)));
}

Question Facts::question(Split split, Index number) const {
  const QuestionWindow own = window(split, number);
  Question question{core::message_of(name_of(split), "-", number), {}, 0, number, 1};
  const auto [first, last] = own.answers[0];
  if (first == 0) return question;
  question.answers = {answer_text(split, number, first, last)};
  question.place = first - own.document + 1;
  return question;
}

std::string Facts::answer_text(Split split, Index number, Index first, Index last) const {
  const QuestionWindow own = window(split, number);
  return decode(std::span(own.tokens).subspan(std::size_t(first), std::size_t(last - first + 1)));
}

std::vector<Baseline> Facts::baselines(Split split) const {
  Index without = 0;
  for (Index i = 0; i < settings_.held_out; ++i) without += question(split, i).answers.empty();
  const double none = double(without) / double(settings_.held_out);
  return {{"always no answer", none},
          {"any value of the document", (1 - none) / double(settings_.values())}};
}

std::string Facts::fingerprint() const {
  const FactsSettings& s = settings_;
  return fingerprint_of(
      core::message_of("facts length=", length(), " keys=", s.keys, " symbols=", s.symbols,
                       " facts=", s.facts, " value=", s.value, " hops=", s.hops,
                       " unanswerable=", s.unanswerable, " held_out=", s.held_out));
}

}  // namespace weft::data
