#include "data/questions/qa.h"

#include <map>
#include <set>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::qa_test {
namespace {

string question(const string& id, const string& text, const string& rest) {
  return R"({"id": ")" + id + R"(", "question": ")" + text + R"(", )" + rest + "}";
}

string answer(const string& text, Index start) {
  return R"({"text": ")" + text + R"(", "answer_start": )" + std::to_string(start) + "}";
}

string paragraph(const string& context, const string& questions) {
  return R"({"context": ")" + context + R"(", "qas": [)" + questions + "]}";
}

string squad(const string& paragraphs) {
  return R"({"version": "v2.0", "data": [{"title": "One", "paragraphs": [)" + paragraphs + "]}]}";
}

/// Everything in one training file.
Qa from(const string& json, Index length, Index batch = 2, QaSettings settings = {}) {
  const ScratchFile file(json);
  settings.files.train_path = file.path();
  settings.files.validation_path = "";
  return Qa(settings, length, batch, 1);
}

TEST(Qa, reads_questions_documents_and_answers_as_bytes) {
  const Qa data = from(
      squad(paragraph("the cat sat",
                      question("q1", "who?",
                               R"("answers": [)" + answer("cat", 4) + "," + answer("cat", 4) + "," +
                                   answer("the cat", 0) + "]") +
                          "," + question("q2", "why?", R"("answers": [], "is_impossible": true)"))),
      24);
  EXPECT_EQ(data.vocabulary(), 259);
  EXPECT_EQ(data.questions(Split::training), 2);
  const Batch batch = data.evaluation(Split::training, 0, 24);
  ASSERT_EQ(batch.targets.shape(), (core::Shape{2, 2, 2}));  // equal answers are listed once
  const auto inputs = batch.inputs.read();
  EXPECT_EQ(inputs[0], cls);
  EXPECT_EQ(inputs[1], Token('w') + 3);
  EXPECT_EQ(inputs[5], separator);
  EXPECT_EQ(inputs[6], Token('t') + 3);
  EXPECT_EQ(inputs[17], 0);
  EXPECT_EQ((*batch.lengths)[0], 17);
  const auto targets = batch.targets.read();
  EXPECT_EQ((std::vector<Token>(targets.begin(), targets.end())),
            (std::vector<Token>{10, 12, 6, 12, 0, 0, -1, -1}));
  EXPECT_EQ((std::vector<Token>(batch.documents.read().begin(), batch.documents.read().end())),
            (std::vector<Token>{6, 16, 6, 16}));
  EXPECT_EQ(data.answer_text(Split::training, 0, 10, 12), "cat");
  const Question first = data.question(Split::training, 0);
  EXPECT_EQ(first.id, "q1");
  EXPECT_EQ(first.answers, (Keys{"cat", "cat", "the cat"}));
  EXPECT_EQ(first.place, 1);
  EXPECT_TRUE(data.question(Split::training, 1).answers.empty());
  EXPECT_EQ(data.baselines(Split::training)[0].accuracy, 0.5);
}

TEST(Qa, counts_answer_start_in_characters) {
  const string json =
      squad(paragraph("\u00e9\u00e9 \u4e2d\u6587 ok",
                      question("q", "?", R"("answers": [)" + answer("\u6587", 4) + "]")));
  const Qa bytes = from(json, 40, 1), characters = from(json, 40, 1, {.units = Unit::characters});
  const auto target = [](const Qa& data) {
    const Batch batch = data.training(0);
    return std::pair{batch.targets.read()[0], batch.targets.read()[1]};
  };
  EXPECT_EQ(target(bytes), (std::pair<Token, Token>{3 + 8, 3 + 10}));
  EXPECT_EQ(target(characters), (std::pair<Token, Token>{3 + 4, 3 + 4}));
  EXPECT_EQ(characters.answer_text(Split::training, 0, 7, 7), "\u6587");
  EXPECT_EQ(characters.vocabulary(), 3 + 7);  // é, space, 中, 文, o, k, ?
}

TEST(Qa, long_documents_are_read_in_windows_that_overlap) {
  string context;
  for (int i = 0; i < 50; ++i) context += char('a' + i % 26);
  const Qa data = from(
      squad(paragraph(context, question("q", "ab", R"("answers": [)" + answer("mnop", 12) + "]"))),
      14, 4, {.stride = 6});
  // Ten tokens of the document in each window, which begin at 0, 6, 12, ... 42.
  const Question asked = data.question(Split::training, 0);
  EXPECT_EQ(asked.windows, 8);
  std::map<Index, std::pair<Token, Token>> found;
  for (Index w = 0; w < 8; ++w) {
    const Batch batch = data.evaluation(Split::training, w / 4, 14);
    const auto row = std::size_t(w % 4);
    EXPECT_EQ(batch.inputs.read()[14 * row + 4], Token(context[std::size_t(6 * w)]) + 3);
    EXPECT_EQ((*batch.lengths)[row], 4 + std::min<Index>(10, 50 - 6 * w));
    if (batch.targets.read()[2 * row] > 0)
      found[w] = {batch.targets.read()[2 * row], batch.targets.read()[2 * row + 1]};
  }
  EXPECT_EQ(found, (std::map<Index, std::pair<Token, Token>>{{1, {10, 13}}, {2, {4, 7}}}));
}

TEST(Qa, training_reads_every_window_with_an_answer_and_as_many_without) {
  string context(60, 'x');
  context.replace(30, 3, "abc");
  const Qa data = from(
      squad(paragraph(context, question("q", "ab", R"("answers": [)" + answer("abc", 30) + "]"))),
      14, 1, {.stride = 5});
  std::map<std::vector<Token>, int> with, without;
  Index answered = 0;
  for (Index epoch = 0; epoch < 10; ++epoch)
    for (Index i = 0; i < 4; ++i) {
      const Batch batch = data.training(4 * epoch + i);
      const std::vector<Token> inputs(batch.inputs.read().begin(), batch.inputs.read().end());
      const bool holds = batch.targets.read()[0] > 0;
      answered += holds;
      ++(holds ? with : without)[inputs];
    }
  EXPECT_EQ(answered, 20);  // two windows with, two without in each epoch of four
  EXPECT_EQ(with.size(), 2u);
  for (const auto& [inputs, times] : with) EXPECT_EQ(times, 10);
}

TEST(Qa, one_file_is_divided_by_articles) {
  string articles;
  for (int a = 0; a < 20; ++a)
    articles += (a ? "," : "") + string(R"({"title": "T)") + std::to_string(a / 2) +
                R"(", "paragraphs": [)" +
                paragraph("article " + std::to_string(a),
                          question("a" + std::to_string(a), "?",
                                   R"("answers": [)" + answer("article", 0) + "]") +
                              "," +
                              question("b" + std::to_string(a), "?",
                                       R"("answers": [)" + answer("art", 0) + "]")) +
                "]}";
  const ScratchFile file(R"({"data": [)" + articles + "]}");
  QaSettings settings;
  settings.files.path = file.path();
  settings.files.fractions = {0.6, 0.2, 0.2};
  const Qa data(settings, 32, 4, 1);
  std::map<string, std::set<Split>> seen;
  Index questions = 0;
  for (const Split split : {Split::training, Split::validation, Split::test}) {
    EXPECT_GT(data.questions(split), 0);
    for (Index i = 0; i < data.questions(split); ++i, ++questions) {
      const string id = data.question(split, i).id;
      seen[std::to_string(std::stoi(id.substr(1)) / 2)].insert(split);
    }
  }
  EXPECT_EQ(questions, 40);
  EXPECT_EQ(seen.size(), 10u);
  for (const auto& [title, splits] : seen) EXPECT_EQ(splits.size(), 1u) << title;
}

TEST(Qa, a_long_question_is_cut_and_said_to_be) {
  const string json = squad(paragraph("yes", question("q", "a very long question indeed",
                                                      R"("answers": [)" + answer("yes", 0) + "]")));
  const Qa data = from(json, 20, 1, {.question_length = 6});
  EXPECT_EQ(data.training(0).documents.read()[0], 8);
  ASSERT_EQ(data.remarks().size(), 1u);
  EXPECT_NE(data.remarks()[0].find("1 questions are cut at 6"), string::npos);
  EXPECT_TRUE(from(json, 120, 1).remarks().empty());
}

TEST(Qa, what_is_wrong_with_a_file_is_said_with_its_record) {
  const auto one = [](const string& rest) {
    return squad(paragraph("caf\u00e9 noir", question("q7", "which?", rest)));
  };
  const std::vector<std::pair<string, Keys>> cases = {
      {"{\"data\": [", {"is no valid JSON", "line 1"}},
      {"[1]", {"\"data\""}},
      {"{\"data\": [1e999]}", {"is no valid JSON", "1e999"}},
      {"{\"data\": []}", {"holds no article"}},
      {"{\"data\": [{\"title\": \"x\"}]}", {"data[0]", "\"paragraphs\""}},
      {squad(R"({"qas": []})"), {"data[0].paragraphs[0]", "\"context\""}},
      {squad(R"({"context": "x"})"), {"\"qas\""}},
      {squad(paragraph("x", R"({"question": "?", "answers": []})")), {"qas[0]", "\"id\""}},
      {squad(paragraph("x", R"({"id": "q7", "answers": []})")), {"id q7", "\"question\""}},
      {one(R"("answers": [])"), {"id q7", "has no answers", "is_impossible"}},
      {one(R"("x": 1)"), {"id q7", "\"answers\""}},
      {one(R"("answers": [{"answer_start": 0}])"), {"id q7", "answers[0]", "\"text\""}},
      {one(R"("answers": [{"text": "noir"}])"), {"id q7", "answer_start"}},
      {one(R"("answers": [)" + answer("noir", 4) + "]"),
       {"id q7", "not the answer \"noir\"", "at character 4"}},
      {one(R"("answers": [)" + answer("noir", 400) + "]"),
       {"id q7", "outside its context of 9 characters"}},
      {one(R"("answers": [)" + answer("noir", -1) + "]"), {"id q7", "outside"}},
      {one(R"("answers": [)" + answer("noir!", 5) + "]"), {"id q7", "not the answer"}},
      {one(R"("is_impossible": true, "answers": [)" + answer("noir", 5) + "]"),
       {"id q7", "is_impossible"}},
      {squad(paragraph("ab", question("q7", "?", R"("answers": [)" + answer("a", 0) + "]") + "," +
                                 question("q7", "?", R"("answers": [)" + answer("b", 1) + "]"))),
       {"the id q7", "unique"}},
      {string(200, '[') + string(200, ']'), {"nested"}}};
  for (const auto& [json, said] : cases) {
    const core::Error error = refusal_of([&] { from(json, 32); });
    expect_says(error, core::Fault::data, "text.txt");
    for (const string& part : said) expect_says(error, core::Fault::data, part);
  }
  // Nothing that fits in a window.
  expect_says(
      refusal_of([&] { from(one(R"("answers": [)" + answer("caf\u00e9 noir", 0) + "]"), 14); }),
      core::Fault::data, "raise data.length");
  expect_says(refusal_of([&] {
                from(one(R"("answers": [)" + answer("noir", 5) + "]"), 32).questions(Split::test);
              }),
              core::Fault::data, "test_path");
}

TEST(Qa, settings_report_what_does_not_fit) {
  const auto given = [](Index length, Index question_length, Index stride) {
    return GivenData({{"kind", string("qa")},
                      {"length", length},
                      {"path", string("x.json")},
                      {"question_length", question_length},
                      {"stride", stride}});
  };
  EXPECT_EQ(given(64, 0, 0).problems(), Keys{});
  EXPECT_TRUE(given(64, 0, 0).traits().asks);
  EXPECT_TRUE(given(64, 0, 0).traits().pads);
  EXPECT_EQ(given(64, 62, 0).problems(), Keys{"question_length"});
  EXPECT_EQ(given(64, 20, 43).problems(), Keys{"stride"});
  EXPECT_EQ(given(64, 20, 42).problems(), Keys{});
}

}  // namespace
}  // namespace weft::data::qa_test
