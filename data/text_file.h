#pragma once

#include <string>
#include <vector>

#include "data/alphabet.h"
#include "data/packed_tokens.h"

namespace weft::data {

/// A whole file in memory.
struct TextFile {
  std::string path;
  std::string bytes;
};

/// Reads a file that must exist and hold something; the error says what to do.
TextFile read_text_file(const std::string& path);

/// The distinct characters of UTF-8 files, sorted by code point.
Alphabet alphabet_of(const std::vector<TextFile>& files);

/// A file's characters as tokens.
PackedTokens characters_of(const TextFile& file, const Alphabet& alphabet);

/// A file's bytes as tokens.
PackedTokens bytes_of(const TextFile& file);

}  // namespace weft::data
