#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/files/piece_reader.h"
#include "data/plan.h"
#include "data/spelling/spelling.h"
#include "data/text/text_units.h"
#include "data/tokens/token_runs.h"

namespace weft::data {

/// The tokens begin .. begin + size - 1 of a run.
struct TokenRange {
  Index begin = 0;
  Index size = 0;
};

/// What is known of a text whose tokens are stored in one run.
struct TextFacts {
  Spelling spelling = Spelling::bytes();
  std::array<TokenRange, 3> parts = {};  ///< of the run, by Split
  std::vector<TextOrigin> origins = {};
  bool boundaries = false;  ///< documents are kept apart by a token after all units

  const TokenRange& part(Split split) const { return parts[std::size_t(split)]; }
  std::string unit() const { return spelling.unit(); }
  Index vocabulary() const { return spelling.vocabulary() + boundaries; }
  std::optional<Token> boundary() const;
  /// Boundaries are shown as line ends.
  std::string decode(std::span<const Token> tokens) const;
};

/// Which files make a text, and how it is cut into splits.
struct TextDivision {
  std::array<std::vector<std::string>, 3> paths;  ///< by Split: files that are concatenated
  TextUnits units = {};
  /// If given, all files are those of the first split, and the splits get these shares of their
  /// tokens, in order.
  std::optional<std::vector<double>> fractions = {};
  Meaning known = {};                   ///< to a model that has been trained
  PieceReader::Progress progress = {};  ///< gets the share of the files that has been read

  std::vector<std::string> all_paths() const;
};

/// A text in memory.
struct DividedText {
  TextFacts facts;
  PackedTokens tokens;
};

/// Reads a text piece by piece and hands over its tokens, so that memory does not depend on how
/// long it is. Files of characters are read twice.
TextFacts encode_divided_text(const TextDivision& division, TokenRuns& runs);

/// The same to memory.
DividedText read_divided_text(const TextDivision& division);

/// The fewest tokens that a text of `bytes` bytes can have.
Index least_tokens(const Spelling& spelling, Index bytes);

/// The parts of runs that are laid end to end.
std::array<TokenRange, 3> parts_of(const TokenRuns& runs);

}  // namespace weft::data
