#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/tokens.h"

namespace weft::data {

/// A piece of text that is a token of a SentencePiece model.
struct Piece {
  enum class Kind { normal = 1, unknown, control, user_defined, unused, byte };

  std::string text;  ///< as in the model: a space is U+2581, a byte <0x41>
  float score = 0;
  Kind kind = Kind::normal;
};

/// The pieces of a SentencePiece model, in the order of their tokens, with a byte piece for each of
/// the 256 bytes. How its training normalised texts is left out: weft never changes a text.
class PieceTable {
 public:
  enum class Form { unigram = 1, bpe };

  /// Reads a model in SentencePiece's own format. What is damaged, no model, without byte pieces or
  /// would not be safe to give to the library is an Error (Fault::data) that begins with `name`.
  PieceTable(std::string_view file, const std::string& name);

  /// The model in SentencePiece's format, with nothing but what is kept here. The same table gives
  /// the same bytes.
  std::string file() const;

  core::Index size() const { return core::Index(pieces_.size()); }
  /// The text that a token stands for; empty for control and unknown pieces.
  const std::string& text(core::Token token) const { return texts_[std::size_t(token)]; }
  core::Token byte_piece(char byte) const { return bytes_[std::uint8_t(byte)]; }

 private:
  void check(const std::string& name);

  Form form_ = Form::unigram;
  std::vector<Piece> pieces_;
  std::vector<std::string> texts_;
  std::array<core::Token, 256> bytes_;
};

}  // namespace weft::data
