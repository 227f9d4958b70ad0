#include "data/text/divided_text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/text/text_file.h"

namespace weft::data {
namespace {

/// Gives the splits their shares of a run, in order; a boundary rounds down.
std::array<Part, 3> divide(Index whole, const std::vector<double>& fractions) {
  core::require(fractions.size() == 3,
                "data.fractions needs three numbers: training, validation, test");
  std::array<Part, 3> parts;
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

TextOrigin origin_of(const TextFile& file) {
  return {std::filesystem::path(file.path).filename().string(), Index(file.bytes.size()),
          fingerprint_of(file.bytes)};
}

DividedText divide_texts(std::vector<TextFile> files, const std::array<std::size_t, 3>& counts,
                         const TextUnits& units, const Meaning& known) {
  TextFacts facts{.spelling = spelling_of(units, files, known)};
  PackedTokens tokens(facts.spelling.vocabulary());
  std::size_t bytes = 0;
  for (const TextFile& file : files) bytes += file.bytes.size();
  if (!facts.spelling.tokenizer()) tokens.reserve(Index(bytes));
  auto file = files.begin();
  for (std::size_t i = 0; i < facts.parts.size(); ++i) {
    facts.parts[i].begin = tokens.size();
    for (std::size_t k = 0; k < counts[i]; ++k, ++file) {
      append_tokens(*file, facts.spelling, tokens);
      file->bytes = {};
    }
    facts.parts[i].size = tokens.size() - facts.parts[i].begin;
  }
  return {std::move(facts), std::move(tokens)};
}

DividedText read_divided_text(const TextDivision& division) {
  std::vector<TextFile> files;
  std::vector<TextOrigin> origins;
  std::array<std::size_t, 3> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (const std::string& path : division.paths[i]) {
      files.push_back(read_text_file(path));
      origins.push_back(origin_of(files.back()));
      ++counts[i];
    }
  DividedText text = divide_texts(std::move(files), counts, division.units, division.known);
  text.facts.origins = std::move(origins);
  if (division.fractions) text.facts.parts = divide(text.tokens.size(), *division.fractions);
  return text;
}

}  // namespace weft::data
