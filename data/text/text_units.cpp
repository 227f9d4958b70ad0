#include "data/text/text_units.h"

#include <filesystem>

#include "core/error.h"
#include "data/choice_names.h"

namespace weft::data {
namespace {

constexpr std::string_view help = "what a token is; sentencepiece: a subword, from data.tokenizer";

}  // namespace

std::string_view name_of(Unit unit) {
  return unit == Unit::bytes ? "bytes" : unit == Unit::characters ? "characters" : "sentencepiece";
}

Unit unit_named(std::string_view name) {
  for (const Unit unit : {Unit::bytes, Unit::characters, Unit::sentencepiece})
    if (name == name_of(unit)) return unit;
  throw core::Error(
      core::message_of("data.units must be bytes, characters or sentencepiece, got '", name, "'"));
}

void TextUnits::fields(core::Fields& fields, std::initializer_list<Unit> choices) {
  fields.choice("units", kind, help, named(choices));
  fields.when("units", {"sentencepiece"},
              [&] { list_tokenizer(fields, kind == Unit::sentencepiece); });
}

void TextUnits::text_fields(core::Fields& fields, bool prepared) {
  fields.when(!prepared, "a data.path that is not a prepared text (.h5)", [&] {
    fields.choice("units", kind, help, named({Unit::bytes, Unit::characters, Unit::sentencepiece}));
  });
  const bool has_pieces = kind == Unit::sentencepiece;
  fields.when(has_pieces || prepared, "data.units = \"sentencepiece\", or a prepared text",
              [&] { list_tokenizer(fields, has_pieces && !prepared); });
}

void TextUnits::list_tokenizer(core::Fields& fields, bool needed) {
  fields.added("tokenizer");
  fields.text(
      "tokenizer", tokenizer,
      "the file that weft data tokenizer wrote; a prepared text has its own, which must be the "
      "same if this names one");
  if (needed && tokenizer.empty())
    fields.problem("tokenizer",
                   "is missing: make one with weft data tokenizer TEXT -o x.model and name it");
}

Spelling spelling_of(const TextUnits& units, const std::function<Alphabet()>& alphabet,
                     const Meaning& known) {
  if (units.kind == Unit::bytes) return Spelling::bytes();
  if (units.kind == Unit::characters) return known.spelling_for(Spelling(alphabet()));
  const auto own = known.spelling ? known.spelling->tokenizer() : std::nullopt;
  std::error_code ignored;
  if (own && !std::filesystem::exists(units.tokenizer, ignored)) return Spelling(*own);
  Tokenizer read = Tokenizer::read(units.tokenizer);
  if (own && own->file() != read.file())
    throw core::Error(
        core::Fault::data,
        "'" + units.tokenizer + "' is not the tokenizer that this model was trained with",
        "Restore that file, or remove it: the model has its own copy");
  return Spelling(std::move(read));
}

void require_same_tokenizer(const Spelling& prepared, const std::string& path,
                            const std::string& tokenizer) {
  if (tokenizer.empty()) return;
  const Tokenizer named = Tokenizer::read(tokenizer);
  if (prepared.tokenizer() && prepared.tokenizer()->file() == named.file()) return;
  throw core::Error(
      core::Fault::data,
      core::message_of("'", path, "' was not prepared with the tokenizer '", tokenizer, "'"),
      "Leave out data.tokenizer, since a prepared text has what it was prepared with, or prepare "
      "it "
      "again: weft data prepare TEXT -o " +
          path + " --units sentencepiece --tokenizer " + tokenizer);
}

}  // namespace weft::data
