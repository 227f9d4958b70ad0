#include "data/text/divided_text.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/spelling/utf8.h"
#include "data/text/character_survey.h"
#include "data/text/text_encoder.h"

namespace weft::data {
namespace {

/// Gives the splits their shares of a run, in order; a boundary rounds down.
std::array<TokenRange, 3> divide(Index whole, const std::vector<double>& fractions) {
  core::require(fractions.size() == 3,
                "data.fractions needs three numbers: training, validation, test");
  std::array<TokenRange, 3> parts;
  double share = 0;
  Index begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    core::require(fractions[i] >= 0, "data.fractions must not be negative, got ", fractions[i]);
    share += fractions[i];
    const Index end = Index(std::floor(share * double(whole) * (1 + 1e-12)));
    core::require(end <= whole, "data.fractions must not add up to more than 1");
    parts[i] = {.begin = begin, .size = end - begin};
    begin = end;
  }
  return parts;
}

}  // namespace

std::optional<Token> TextFacts::boundary() const {
  if (!boundaries) return {};
  return Token(spelling.vocabulary());
}

std::string TextFacts::decode(std::span<const Token> tokens) const {
  std::string text;
  for (auto rest = tokens; !rest.empty();) {
    const auto end = boundaries ? std::ranges::find(rest, *boundary()) : rest.end();
    const auto count = std::size_t(end - rest.begin());
    text += spelling.decode(rest.first(count));
    if (end != rest.end()) text += '\n';
    rest = rest.subspan(std::min(count + 1, rest.size()));
  }
  return text;
}

std::vector<std::string> TextDivision::all_paths() const {
  std::vector<std::string> all;
  for (const auto& own : paths) all.insert(all.end(), own.begin(), own.end());
  return all;
}

Index least_tokens(const Spelling& spelling, Index bytes) {
  constexpr Index longest_usual_piece = 16;
  if (spelling.tokenizer()) return bytes / longest_usual_piece;
  return spelling.alphabet() ? bytes / Index(longest_character) : bytes;
}

std::array<TokenRange, 3> parts_of(const TokenRuns& runs) {
  std::array<TokenRange, 3> parts;
  Index begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = {.begin = begin, .size = runs.size(Split(i))};
    begin += parts[i].size;
  }
  return parts;
}

TextFacts encode_divided_text(const TextDivision& division, TokenRuns& runs) {
  const bool characters = division.units.kind == Unit::characters;
  const std::vector<std::string> files = division.all_paths();
  PieceReader reader(files, characters ? 2 : 1, division.progress);
  Index known_tokens = 0;
  const auto survey = [&] {
    CharacterSurvey found;
    for (const std::string& path : files) {
      reader.read(path, [&](std::string_view piece, Index at) { found.add(piece, path, at); });
      found.end(path);
    }
    known_tokens = found.count();
    return found.alphabet();
  };
  TextFacts facts{.spelling = spelling_of(division.units, survey, division.known)};
  runs.begin(facts.vocabulary(),
             std::max(known_tokens, least_tokens(facts.spelling, reader.plain_bytes())));
  for (std::size_t i = 0; i < division.paths.size(); ++i)
    for (const std::string& path : division.paths[i]) {
      TextEncoder encoder(facts.spelling, {},
                          [&](std::span<const Token> tokens) { runs.append(Split(i), tokens); });
      facts.origins.push_back(
          reader.read(path, [&](std::string_view piece, Index) { encoder.add(piece); }));
      encoder.end();
      encoder.finish();
    }
  facts.parts = division.fractions ? divide(runs.size(), *division.fractions) : parts_of(runs);
  return facts;
}

DividedText read_divided_text(const TextDivision& division) {
  MemoryRuns runs(division.paths[0].empty() ? "" : division.paths[0].front());
  TextFacts facts = encode_divided_text(division, runs);
  return {std::move(facts), runs.take()};
}

}  // namespace weft::data
