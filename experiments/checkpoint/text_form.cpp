#include "experiments/checkpoint/text_form.h"

#include "core/error.h"
#include "data/questions/question_data.h"
#include "experiments/checkpoint/saved_spelling.h"

namespace weft::experiments {

using core::Index;
using core::Token;

TextForm TextForm::of(const data::Dataset& dataset) {
  TextForm form{.vocabulary = dataset.vocabulary(),
                .spelling = dataset.spelling(),
                .first_unit = dataset.first_unit(),
                .classes = dataset.class_names(),
                .boundary = dataset.boundary(),
                .document_end = dataset.document_end(),
                .source_length = dataset.source_length()};
  if (const auto* questions = dynamic_cast<const data::QuestionData*>(&dataset))
    form.question = questions->question_form();
  return form;
}

std::vector<Token> TextForm::encode(std::string_view text) const {
  core::require(spelling.has_value(), "this model's data alone can read a text");
  std::vector<Token> tokens = spelling->encode(text);
  for (Token& token : tokens) token += first_unit;
  return tokens;
}

std::string TextForm::decode(std::span<const Token> tokens) const {
  core::require(spelling.has_value(), "this model's data alone can write a text");
  std::string text;
  std::vector<Token> units;
  const auto end_units = [&] {
    text += spelling->decode(units);
    units.clear();
  };
  for (const Token token : tokens)
    if (token >= first_unit && token - first_unit < spelling->vocabulary()) {
      units.push_back(token - first_unit);
    } else if (token == document_end) {
      end_units();
      text += '\n';
    }
  end_units();
  return text;
}

Facts describe_form(const TextForm& form) {
  Facts facts;
  facts["data/vocabulary"] = std::int64_t(form.vocabulary);
  for (const auto& [name, text] : describe_spelling(form.spelling)) facts["data/" + name] = text;
  if (form.first_unit > 0) facts["data/first_unit"] = std::int64_t(form.first_unit);
  if (!form.classes.empty()) facts["data/classes"] = describe_classes(form.classes);
  if (form.boundary) facts["data/boundary"] = std::int64_t(*form.boundary);
  if (form.document_end) facts["data/document_end"] = std::int64_t(*form.document_end);
  if (form.source_length > 0) facts["data/source_length"] = std::int64_t(form.source_length);
  if (form.question) {
    facts["data/question_length"] = std::int64_t(form.question->longest);
    facts["data/question_stride"] = std::int64_t(form.question->stride);
  }
  return facts;
}

std::optional<TextForm> saved_form(const Checkpoint& checkpoint) {
  if (!checkpoint.has("data/vocabulary")) return {};
  constexpr Index most = Index(1) << 30;
  const auto number = [&](const std::string& name, Index least) {
    if (!checkpoint.has("data/" + name)) return Index(0);
    const Index value = checkpoint.integer("data/" + name);
    if (value < least || value > most)
      throw core::Error(core::Fault::checkpoint,
                        core::message_of(checkpoint.path.string(), ": data/", name, " is ", value,
                                         ", which is impossible"));
    return value;
  };
  TextForm form{.vocabulary = number("vocabulary", 1),
                .spelling = saved_spelling(checkpoint),
                .first_unit = Token(number("first_unit", 0)),
                .classes = saved_classes(checkpoint),
                .source_length = number("source_length", 0)};
  if (checkpoint.has("data/boundary")) form.boundary = Token(number("boundary", 0));
  if (checkpoint.has("data/document_end")) form.document_end = Token(number("document_end", 0));
  if (checkpoint.has("data/question_length"))
    form.question = {number("question_length", 1), number("question_stride", 0)};
  return form;
}

data::Meaning saved_meaning(const Checkpoint& checkpoint) {
  return {saved_spelling(checkpoint), saved_classes(checkpoint)};
}

}  // namespace weft::experiments
