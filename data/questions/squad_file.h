#pragma once

#include <string>
#include <vector>

#include "core/real.h"

namespace weft::data {

/// Where an answer is in its context, in bytes.
struct SquadAnswer {
  std::size_t begin, end;
};

struct SquadQuestion {
  std::string id, text;
  std::vector<SquadAnswer> answers;  ///< different ones, in order; empty: the question has none
  std::vector<std::string> texts;    ///< of the answers as they are listed
};

struct SquadParagraph {
  std::string context;
  std::vector<SquadQuestion> questions;
};

struct SquadArticle {
  std::string title;
  std::vector<SquadParagraph> paragraphs;
};

/// Articles in the JSON of SQuAD 1.1 and 2.0:
///   data[].paragraphs[].{context, qas[].{id, question, answers[].{text, answer_start},
///   is_impossible}}
/// answer_start counts code points; the text found there must be `text`. What is wrong is a
/// data error that names the file, the record and, where it has one, its id.
std::vector<SquadArticle> parse_squad(const std::string& json, const std::string& path);

}  // namespace weft::data
