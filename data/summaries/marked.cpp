#include "data/summaries/marked.h"

#include <algorithm>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/tasks/characters.h"
#include "data/tasks/draws.h"

namespace weft::data {
namespace {

/// End, STOP and MARK are punctuation, ranks digits, symbols letters.
Alphabet characters_for(Index marks, Index symbols) {
  std::vector<char32_t> characters = {U'|', U'.', U'*'};
  append_signs(characters, marks);
  append_letters(characters, symbols);
  return Alphabet(std::move(characters));
}

}  // namespace

void MarkedSettings::fields(core::Fields& fields, Index length) {
  fields.integer("source", source, "tokens of the longest document", core::between(1, 1 << 30));
  fields.integer("symbols", symbols, "different symbols", core::between(2, 10000));
  fields.integer("least", least, "symbols of the shortest sentence", core::at_least(1));
  fields.integer("most", most, "symbols of the longest sentence", core::between(1, 1 << 20));
  fields.integer("marks", marks, "most marked sentences; the fewest are 1", core::between(1, 1000));
  fields.choice("order", order,
                "rank: marks carry ranks, and the summary follows them; document: it follows the "
                "document",
                {{"rank", MarkedOrder::rank}, {"document", MarkedOrder::document}});
  list_held_out(fields, held_out);
  if (least > most) fields.problem("least", core::message_of("must be at most data.most, ", most));
  if (const Index needed = marks * (most + 3); source < needed)
    fields.problem("source", core::message_of("must be at least ", needed, ", so that ", marks,
                                              " marked sentences fit in"));
  if (length < longest_summary())
    fields.problem("length", core::message_of("must be at least ", longest_summary(),
                                              ", so that the longest summary fits in"));
}

DataPlan configure_marked(core::Fields& fields, Index length) {
  MarkedSettings settings;
  settings.fields(fields, length);
  return plan_for<Marked>(settings, length, {.sources = true, .source_length = settings.source});
}

Marked::Marked(const MarkedSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Generated(length, batch, settings.held_out, characters_for(settings.marks, settings.symbols)),
      settings_(settings),
      language_(settings.symbols),
      seed_(seed) {
  core::require(settings.least >= 1 && settings.least <= settings.most &&
                    settings.source >= settings.marks * (settings.most + 3) &&
                    length >= settings.longest_summary(),
                "marked: ", settings.marks, " sentences of up to ", settings.most,
                " symbols do not fit in documents of ", settings.source, " and summaries of ",
                length, " tokens");
}

core::Rng Marked::stream(Split split, Index number) const {
  const core::Rng own = split == Split::training
                            ? core::Rng(seed_).fold("marked training")
                            : core::Rng(0).fold("marked held out").fold(name_of(split));
  return own.fold(std::uint64_t(number));
}

std::vector<std::vector<Token>> Marked::sentences(const core::Rng& stream) const {
  ChainWalk walk(language_, stream.fold("symbols"));
  const core::Rng lengths = stream.fold("lengths");
  std::vector<std::vector<Token>> all;
  for (Index left = settings_.source - 2 * settings_.marks;;) {
    const Index size =
        settings_.least + lengths.below(all.size(), settings_.most - settings_.least + 1);
    left -= size + 1;
    if (left < 0) return all;
    std::vector<Token>& sentence = all.emplace_back();
    for (Index i = 0; i < size; ++i) sentence.push_back(first_symbol() + walk.next());
    sentence.push_back(stop);
  }
}

void Marked::draw(const core::Rng& stream, BatchRows& rows, Index row) const {
  const std::vector<std::vector<Token>> all = sentences(stream);
  const Index marked = 1 + stream.fold("marked").below(0, settings_.marks);
  const std::set<Index> places = drawn_choice(marked, Index(all.size()), stream.fold("places"));
  const std::vector<Index> ranks = settings_.order == MarkedOrder::rank
                                       ? drawn_order(marked, stream.fold("ranks"))
                                       : std::vector<Index>();
  std::vector<Token> document;
  std::vector<const std::vector<Token>*> summary(static_cast<std::size_t>(marked));
  for (std::size_t i = 0, next = 0; i < all.size(); ++i) {
    if (places.contains(Index(i))) {
      document.push_back(mark);
      const std::size_t rank = ranks.empty() ? next : std::size_t(ranks[next]);
      if (!ranks.empty()) document.push_back(first_rank + Token(rank));
      summary[rank] = &all[i];
      ++next;
    }
    document.insert(document.end(), all[i].begin(), all[i].end());
  }
  std::ranges::copy(document, rows.source(row, Index(document.size()), settings_.source).begin());
  const auto inputs = rows.inputs(row), targets = rows.targets(row);
  std::size_t at = 0;
  for (const auto* sentence : summary)
    for (const Token token : *sentence) {
      targets[at] = token;
      inputs[++at] = token;
    }
  targets[at] = end;
}

std::vector<std::string> Marked::words(std::span<const Token> tokens) const {
  std::vector<std::string> all;
  for (const Token token : tokens)
    if (token >= first_symbol()) all.push_back(decode(std::span(&token, 1)));
  return all;
}

std::string Marked::fingerprint() const {
  const MarkedSettings& s = settings_;
  return fingerprint_of(core::message_of(
      "marked length=", length(), " source=", s.source, " symbols=", s.symbols,
      " sentences=", s.least, "..", s.most, " marks=", s.marks,
      s.order == MarkedOrder::rank ? " by rank" : " by place", " held_out=", s.held_out));
}

}  // namespace weft::data
