#include "data/questions/squad_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/files/json_text.h"
#include "data/spelling/utf8.h"

namespace weft::data {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_answers = 64;

template <class... Parts>
[[noreturn]] void refuse(const std::string& where, const Parts&... parts) {
  throw core::Error(core::Fault::data, core::message_of(where, ": ", parts...));
}

const std::string& non_empty(const Json& object, const char* name, const std::string& where) {
  const std::string& text = json_string(object, name, where);
  if (text.empty()) refuse(where, "\"", name, "\" is empty: write one, or remove the record");
  return text;
}

/// The byte at which each character of a text begins, and its end.
std::vector<std::size_t> character_bytes(const std::string& text, const std::string& where) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size();) {
    starts.push_back(at);
    if (!read_character(text, at)) refuse(where, "the context is not UTF-8 at byte ", at);
  }
  starts.push_back(text.size());
  return starts;
}

/// One entry of `answers`.
SquadAnswer read_answer(const Json& json, const std::string& context,
                        const std::vector<std::size_t>& starts, const std::string& where) {
  const std::string& text = non_empty(json, "text", where);
  const auto start = json.find("answer_start");
  if (start == json.end() || !start->is_number_integer())
    refuse(where, "has no whole number \"answer_start\": say at which character the answer begins");
  const auto characters = std::int64_t(starts.size()) - 1;
  const auto place = start->is_number_unsigned() && start->get<std::uint64_t>() > INT64_MAX
                         ? INT64_MAX
                         : start->get<std::int64_t>();
  if (place < 0 || place >= characters)
    refuse(where, "the answer \"", text, "\" begins at character ", place,
           ", outside its context of ", characters,
           " characters: correct answer_start, which counts from 0");
  const std::size_t begin = starts[std::size_t(place)];
  if (context.compare(begin, text.size(), text) == 0) return {begin, begin + text.size()};
  const std::size_t end = starts[std::min(std::size_t(place) + 20, starts.size() - 1)];
  refuse(where, "the context has \"", context.substr(begin, end - begin), "\" at character ", place,
         ", not the answer \"", text, "\": correct answer_start, which counts characters from 0");
}

SquadQuestion read_question(const Json& json, const std::string& context,
                            const std::vector<std::size_t>& starts, const std::string& where) {
  SquadQuestion question{non_empty(json, "id", where), {}, {}, {}};
  const std::string own = core::message_of(where, " (id ", question.id, ")");
  question.text = non_empty(json, "question", own);
  const Json& answers = json_array(json, "answers", own);
  const auto flag = json.find("is_impossible");
  if (flag != json.end() && !flag->is_boolean())
    refuse(own, "\"is_impossible\" is neither true nor false");
  const bool impossible = flag != json.end() && flag->get<bool>();
  if (impossible && !answers.empty())
    refuse(own, "is_impossible is true, but there are answers: remove one of the two");
  if (!impossible && answers.empty())
    refuse(own, "has no answers: add one, or set is_impossible to true");
  if (answers.size() > most_answers)
    refuse(own, "has ", answers.size(), " answers, more than ", most_answers, ": remove some");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string of_answer = core::message_of(own, " answers[", i, "]");
    const SquadAnswer answer = read_answer(answers[i], context, starts, of_answer);
    question.texts.push_back(context.substr(answer.begin, answer.end - answer.begin));
    if (std::ranges::none_of(question.answers, [&](const SquadAnswer& other) {
          return other.begin == answer.begin && other.end == answer.end;
        }))
      question.answers.push_back(answer);
  }
  return question;
}

SquadParagraph read_paragraph(const Json& json, const std::string& where) {
  SquadParagraph paragraph{non_empty(json, "context", where), {}};
  const std::vector<std::size_t> starts = character_bytes(paragraph.context, where);
  const Json& questions = json_array(json, "qas", where);
  for (std::size_t i = 0; i < questions.size(); ++i)
    paragraph.questions.push_back(read_question(questions[i], paragraph.context, starts,
                                                core::message_of(where, ".qas[", i, "]")));
  return paragraph;
}

}  // namespace

std::vector<SquadArticle> parse_squad(const std::string& text, const std::string& path) {
  const Json json = parse_json(text, path,
                               {"data", "title", "paragraphs", "context", "qas", "id", "question",
                                "answers", "text", "answer_start", "is_impossible"});
  const Json& data = json_array(json, "data", path);
  std::vector<SquadArticle> articles;
  for (std::size_t a = 0; a < data.size(); ++a) {
    const std::string where = core::message_of(path, ": data[", a, "]");
    const Json& paragraphs = json_array(data[a], "paragraphs", where);
    const auto title = data[a].find("title");
    SquadArticle article{
        title != data[a].end() && title->is_string() ? title->get<std::string>() : "", {}};
    for (std::size_t p = 0; p < paragraphs.size(); ++p)
      article.paragraphs.push_back(
          read_paragraph(paragraphs[p], core::message_of(where, ".paragraphs[", p, "]")));
    articles.push_back(std::move(article));
  }
  if (articles.empty()) refuse(path, "\"data\" holds no article: name a file that holds some");
  return articles;
}

}  // namespace weft::data
