#pragma once

#include <string>
#include <vector>

#include "data/spelling.h"
#include "data/text/packed_tokens.h"

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

/// Adds a file's bytes or characters to a run of tokens.
void append_tokens(const TextFile& file, const Spelling& spelling, PackedTokens& tokens);

}  // namespace weft::data
