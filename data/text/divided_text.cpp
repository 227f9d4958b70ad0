#include "data/text/divided_text.h"

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

std::vector<TextFile> read_files(const TextDivision& division) {
  std::vector<TextFile> files;
  for (const auto& paths : division.paths)
    for (const std::string& path : paths) files.push_back(read_text_file(path));
  return files;
}

}  // namespace

DividedText read_divided_text(const TextDivision& division) {
  core::require(division.units == "bytes" || division.units == "characters",
                "data.units must be bytes or characters, got '", division.units, "'");
  std::vector<TextFile> files = read_files(division);
  TextFacts facts;
  if (division.units == "characters") facts.spelling = Spelling(alphabet_of(files));
  PackedTokens tokens(facts.spelling.vocabulary());
  std::size_t bytes = 0;
  for (const TextFile& file : files) bytes += file.bytes.size();
  tokens.reserve(Index(bytes));
  auto file = files.begin();
  for (std::size_t i = 0; i < facts.parts.size(); ++i) {
    facts.parts[i].begin = tokens.size();
    for (std::size_t k = 0; k < division.paths[i].size(); ++k, ++file) {
      append_tokens(*file, facts.spelling, tokens);
      facts.origins.push_back({std::filesystem::path(file->path).filename().string(),
                               Index(file->bytes.size()), fingerprint_of(file->bytes)});
      file->bytes = {};
    }
    facts.parts[i].size = tokens.size() - facts.parts[i].begin;
  }
  if (division.fractions) facts.parts = divide(tokens.size(), *division.fractions);
  return {std::move(facts), std::move(tokens)};
}

}  // namespace weft::data
