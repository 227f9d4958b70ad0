#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/spelling/piece_table.h"

namespace weft::data {

class PieceSearch;

/// Texts as pieces of a SentencePiece model, and back: every sequence of bytes can be written, and
/// is what it was when read again. Copies share the model; any thread may use it.
class Tokenizer {
 public:
  explicit Tokenizer(PieceTable table);
  /// Of a .model file.
  static Tokenizer read(const std::string& path);

  core::Index vocabulary() const { return table_->size(); }
  /// The same on any number of threads. Needs the SentencePiece library.
  std::vector<core::Token> encode(std::string_view text) const;
  std::string decode(std::span<const core::Token> tokens) const;
  /// The model, in SentencePiece's format, to be kept with what was made by it.
  std::string file() const { return table_->file(); }

 private:
  void encode_piecewise(std::string_view text, std::vector<core::Token>& tokens) const;

  std::shared_ptr<const PieceTable> table_;
  std::shared_ptr<const PieceSearch> search_;  ///< none where weft was built without the library
};

}  // namespace weft::data
