#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "data/plan.h"
#include "data/spelling/spelling.h"

namespace weft::data {

/// What a token of a text is: a byte, a character, or a piece of a word by SentencePiece.
enum class Unit { bytes, characters, sentencepiece };
/// "bytes", "characters", "sentencepiece"
std::string_view name_of(Unit unit);
/// The unit of such a name; an Error for any other.
Unit unit_named(std::string_view name);

/// How a text is cut into tokens.
struct TextUnits {
  Unit kind = Unit::bytes;
  std::string tokenizer = {};  ///< the .model file of sentencepiece

  /// Lists the settings; `choices` are the units that a kind of data has.
  void fields(core::Fields& fields, std::initializer_list<Unit> choices);
  /// The same for a text, which may have been prepared with units of its own.
  void text_fields(core::Fields& fields, bool prepared);

 private:
  void list_tokenizer(core::Fields& fields, bool needed);
};

/// How texts with these units are written; `alphabet` finds the characters that occur, where they
/// are characters. A model that has been trained keeps its own alphabet or tokenizer: the
/// tokenizer's file may be missing then, but be no other.
Spelling spelling_of(const TextUnits& units, const std::function<Alphabet()>& alphabet,
                     const Meaning& known);

/// Throws an Error (Fault::data) unless a prepared text has the tokenizer that was named for it.
void require_same_tokenizer(const Spelling& prepared, const std::string& path,
                            const std::string& tokenizer);

}  // namespace weft::data
