#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/text/divided_text.h"
#include "data/tokens/stored_tokens.h"
#include "data/tokens/token_files.h"

namespace weft::data {

/// A prepared text is one HDF5 file followed by its seal (core/files/file_seal.h):
///   /tokens            [N] unsigned 8 or 16 bits, or 32: as few as the vocabulary allows
///   /alphabet          [V] code points by token, where tokens are characters
///   /tokenizer         bytes of a SentencePiece model, where tokens are its pieces
///   /splits            [3, 2] first token and count of training, validation, test
///   /sources/0 ...     attributes name, bytes, xxh3_128: the files it was made of
///   / attributes       format, units, and boundaries where a token after all units is a boundary
///                      between documents
struct PreparedText {
  TextFacts facts;
  std::unique_ptr<StoredTokens> tokens;  ///< left in the file
  std::string fingerprint;               ///< XXH3-128 of the whole file
};

/// Writes a text, as a whole or not at all, and returns its fingerprint. The same text gives the
/// same bytes. Memory does not depend on how long it is.
std::string write_prepared_text(const std::filesystem::path& path, const TextFacts& facts,
                                TokenFiles& tokens);

/// Reads the file once to check its seal; then it is open for reading. A file that is cut,
/// altered or something else is an Error (Fault::data) that says what to do.
PreparedText open_prepared_text(const std::string& path);

}  // namespace weft::data
