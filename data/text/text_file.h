#pragma once

#include <vector>

#include "data/files/text_file.h"
#include "data/spelling/spelling.h"
#include "data/text/packed_tokens.h"

namespace weft::data {

/// The distinct characters of UTF-8 files, sorted by code point.
Alphabet alphabet_of(const std::vector<TextFile>& files);

/// Adds a file's bytes, characters or pieces to a run of tokens.
void append_tokens(const TextFile& file, const Spelling& spelling, PackedTokens& tokens);

}  // namespace weft::data
