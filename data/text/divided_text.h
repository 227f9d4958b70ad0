#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/plan.h"
#include "data/spelling/spelling.h"
#include "data/text/packed_tokens.h"
#include "data/text/text_units.h"

namespace weft::data {

/// The tokens begin .. begin + size - 1 of a run.
struct Part {
  Index begin = 0;
  Index size = 0;
};

/// A file that tokens came from.
struct TextOrigin {
  std::string name;  ///< without its folder
  Index bytes = 0;
  std::string fingerprint;
};

/// What is known of a text whose tokens are stored in one run.
struct TextFacts {
  Spelling spelling = Spelling::bytes();
  std::array<Part, 3> parts = {};  ///< of the run, by Split
  std::vector<TextOrigin> origins = {};
  bool boundaries = false;  ///< documents are kept apart by a token after all units

  const Part& part(Split split) const { return parts[std::size_t(split)]; }
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
  Meaning known = {};  ///< to a model that has been trained
};

/// A text in memory.
struct DividedText {
  TextFacts facts;
  PackedTokens tokens;
};

/// What is known of a file that was read.
TextOrigin origin_of(const TextFile& file);

DividedText read_divided_text(const TextDivision& division);

/// A text from what is in memory already: the first texts are concatenated to the first split, and
/// so on, as many as `counts` says. The origins are left to the caller.
DividedText divide_texts(std::vector<TextFile> files, const std::array<std::size_t, 3>& counts,
                         const TextUnits& units, const Meaning& known = {});

}  // namespace weft::data
