#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/files/text_file.h"
#include "data/spelling/alphabet.h"

namespace weft::data {

/// Finds the distinct characters of UTF-8 texts that arrive in pieces. What is not UTF-8 is an
/// Error (Fault::data) that says where.
class CharacterSurvey {
 public:
  CharacterSurvey() : seen_(0x110000) {}

  /// The next piece of the file `path`, which begins at byte `at`.
  void add(std::string_view piece, const std::string& path, core::Index at);
  /// Ends a text, within which its last character must be.
  void end(const std::string& path);

  core::Index count() const { return count_; }
  /// Sorted by code point.
  Alphabet alphabet() const;

 private:
  std::vector<bool> seen_;
  core::Index count_ = 0;
  std::string pending_;  ///< the beginning of a character, perhaps
  core::Index pending_at_ = 0;
};

/// The distinct characters of a file, sorted by code point.
Alphabet alphabet_of(const TextFile& file);

}  // namespace weft::data
