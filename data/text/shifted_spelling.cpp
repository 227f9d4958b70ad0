#include "data/text/shifted_spelling.h"

#include "data/choice_names.h"
#include "data/text/character_survey.h"

namespace weft::data {

ShiftedSpelling::ShiftedSpelling(Unit unit, core::Token first, std::string text,
                                 const std::string& path, const Meaning& known)
    : ShiftedSpelling(unit == Unit::bytes
                          ? Spelling::bytes()
                          : known.spelling_for(Spelling(alphabet_of({path, std::move(text)}))),
                      first) {}

std::vector<core::Token> ShiftedSpelling::encode(std::string_view text) const {
  std::vector<core::Token> tokens = spelling_.encode(text);
  for (core::Token& token : tokens) token += first_;
  return tokens;
}

std::string ShiftedSpelling::decode(std::span<const core::Token> tokens) const {
  std::vector<core::Token> units;
  for (const core::Token token : tokens)
    if (token >= first_) units.push_back(token - first_);
  return spelling_.decode(units);
}

void list_units(core::Fields& fields, Unit& unit) {
  fields.choice("units", unit, "what a token is", named({Unit::bytes, Unit::characters}));
}

}  // namespace weft::data
