#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/spelling/piece_table.h"

namespace weft::data {

/// Whether weft was built with the SentencePiece library.
bool has_sentencepiece();

/// Throws a usage error that says how to get it, where it is missing.
void require_sentencepiece();

/// The SentencePiece library with the model of a table. Any thread may use it at any time.
class PieceSearch {
 public:
  explicit PieceSearch(const PieceTable& table);
  ~PieceSearch();
  PieceSearch(const PieceSearch&) = delete;
  PieceSearch& operator=(const PieceSearch&) = delete;

  /// The tokens of a text in UTF-8; empty where the library fails.
  std::vector<int> tokens(std::string_view text) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

struct TokenizerTraining {
  core::Index size = 4096;  ///< tokens
  PieceTable::Form form = PieceTable::Form::unigram;
};

/// Trains a model on sentences and returns it in SentencePiece's format. It has fewer tokens than
/// were asked for where the sentences do not give as many. The same sentences give the same bytes.
std::string train_sentencepiece(const std::vector<std::string>& sentences,
                                const TokenizerTraining& training);

}  // namespace weft::data
