// What users meet when they apply a model to new texts. The numbers are those of the papercuts and
// expectations that were found when weft was tried as a new user would.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/data/images/image_bytes.h"
#include "tests/experiments/program.h"
#include "tests/experiments/squad_sample.h"

namespace weft::experiments::predict_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

const char* const classifier = R"(
[data]
kind = "labelled"
path = "labelled.tsv"
length = 16
[model]
task = "classify"
pool = "mean"
layers = 1
width = 16
heads = 2
[optim]
lr = 1e-2
[train]
steps = 150
batch = 8
)";

/// Texts of a's are low, texts of z's are high, of m's middling.
std::string labelled_lines() {
  std::string lines;
  for (int i = 0; i < 60; ++i) {
    const char c = "amz"[i % 3];
    const char* const label = i % 3 == 0 ? "low" : i % 3 == 1 ? "mid" : "high";
    lines += std::string(label) + "\t" + std::string(std::size_t(4 + i % 7), c) +
             std::to_string(i) + "\n";
  }
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string first_column(const std::string& line) { return line.substr(0, line.find('\t')); }

/// A trained run in a directory of its own, whose data is gone.
class Applied : public Program {
 public:
  Applied(const std::string& name, const std::string& config,
          const std::map<std::string, std::string>& files)
      : Program("predict_" + name) {
    write("c.toml", config);
    for (const auto& [file, text] : files) write(file, text);
    const Outcome trained = run({"train", "c.toml", "--run", "r"});
    EXPECT_EQ(trained.code, 0) << trained.out << trained.err;
  }
  void forget(const std::string& file) const { fs::remove(directory() / file); }
  /// Runs `weft predict r` and more words with this standard input.
  Outcome predict(const std::string& input, Words words = {}) const {
    write("in.txt", input);
    words.insert(words.begin(), {"predict", "r"});
    return run(words, [] {
      if (!freopen("in.txt", "r", stdin)) _exit(126);
    });
  }
};

TEST(Row1, piped_texts_get_their_class_and_probabilities_without_the_data) {
  const Applied program("classes", classifier, {{"labelled.tsv", labelled_lines()}});
  program.forget("labelled.tsv");
  const Outcome outcome = program.predict("aaaaaa1\nzzzzzz2\r\nmmmmm3");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 4u) << outcome.out;
  EXPECT_EQ(lines[0], "class\thigh\tlow\tmid");
  EXPECT_EQ(first_column(lines[1]), "low");
  EXPECT_EQ(first_column(lines[2]), "high");
  EXPECT_EQ(first_column(lines[3]), "mid");
  EXPECT_EQ(outcome.err, "");
  for (const std::string& line : lines_of(program.predict("aaaaaa1\nzz\n", {"--json"}).out)) {
    const auto json = nlohmann::json::parse(line);
    double sum = 0;
    for (const auto& [name, p] : json["probabilities"].items()) sum += double(p);
    EXPECT_NEAR(sum, 1, 1e-5);
    for (const auto& [name, p] : json["probabilities"].items())
      EXPECT_LE(double(p), double(json["probabilities"][std::string(json["class"])]));
  }
}

TEST(Row1, the_order_and_the_answers_do_not_depend_on_the_batch) {
  const Applied program("batches", classifier, {{"labelled.tsv", labelled_lines()}});
  std::string texts;
  for (int i = 0; i < 29; ++i) texts += std::string(std::size_t(1 + i % 14), "amz"[i % 3]) + "\n";
  const Outcome whole = program.predict(texts);
  EXPECT_EQ(lines_of(whole.out).size(), 30u);
  for (const char* batch : {"1", "7", "64"})
    EXPECT_EQ(program.predict(texts, {"--batch", batch}).out, whole.out) << batch;
  const Outcome bare = program.predict(texts, {"-", "--bare", "threads=1"});
  EXPECT_EQ(whole.out, lines_of(whole.out)[0] + "\n" + bare.out);
}

TEST(Row1, predictions_are_what_eval_scores) {
  const Applied program("agrees", classifier, {{"labelled.tsv", labelled_lines()}});
  std::string texts, labels;
  for (const std::string& line : lines_of(labelled_lines())) {
    labels += first_column(line) + "\n";
    texts += line.substr(line.find('\t') + 1) + "\n";
  }
  const auto expected = lines_of(labels), got = lines_of(program.predict(texts, {"--bare"}).out);
  ASSERT_EQ(got.size(), expected.size());
  int right = 0;
  for (std::size_t i = 0; i < got.size(); ++i) right += first_column(got[i]) == expected[i];
  const Outcome eval = program.run({"eval", "r", "data.path=labelled.tsv", "--whole", "--json"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_NEAR(double(nlohmann::json::parse(eval.out)["accuracy"]), right / 60.0, 1e-9);
}

TEST(Row1, columns_and_fields_are_found_by_number_and_name) {
  const Applied program("columns", classifier, {{"labelled.tsv", labelled_lines()}});
  const std::string expected = program.predict("aaaa1\nzzzz2\n").out;
  EXPECT_EQ(program.predict("7\taaaa1\n8\tzzzz2\n", {"--column", "2"}).out, expected);
  EXPECT_EQ(program.predict("id\tbody\n7\taaaa1\n8\tzzzz2\n", {"--column", "body"}).out, expected);
  EXPECT_EQ(program.predict("id\tbody\n7\taaaa1\n8\tzzzz2\n", {"--column", "2", "--header"}).out,
            expected);
  EXPECT_EQ(program.predict("{\"t\":\"aaaa1\"}\n{\"x\":3,\"t\":\"zzzz2\"}\n", {"--field", "t"}).out,
            expected);
  program.write("texts.txt", "aaaa1\nzzzz2\n");
  EXPECT_EQ(program.run({"predict", "r", "texts.txt"}).out, expected);
  const Outcome none = program.predict("id\tbody\n7\taaaa1\n", {"--column", "text"});
  EXPECT_EQ(none.code, 4);
  expect_holds(none.err, {"--column text", "id, body"});
}

TEST(Row1, what_cannot_be_read_is_counted_and_takes_nothing_from_the_others) {
  const Applied program("faults", classifier, {{"labelled.tsv", labelled_lines()}});
  const Outcome empty = program.predict("aaaa1\n\nzzzz2\n");
  EXPECT_EQ(empty.code, 0);
  expect_holds(empty.err, {"1 line without text, no prediction"});
  EXPECT_EQ(lines_of(empty.out)[2], "\t\t\t");
  const Outcome json = program.predict("{\"t\":\"aaaa1\"}\n[[[\n{\"t\":7}\n{\"t\":\"zz2\"}\n",
                                       {"--field", "t", "--json"});
  EXPECT_EQ(json.code, 4);
  expect_holds(json.err, {"2 lines of 4 could not be read", "line 2", "no valid JSON"});
  const auto lines = lines_of(json.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["line"], 2);
  EXPECT_EQ(nlohmann::json::parse(lines[3])["class"], "high");
  const Outcome columns = program.predict("a\tb\nc\n", {"--column", "2"});
  EXPECT_EQ(columns.code, 4);
  expect_holds(columns.err, {"line 2: has 1 column"});
  const Outcome cut = program.predict(std::string(40, 'a') + "\naa\n\xff\xfe\n");
  EXPECT_EQ(cut.code, 0);
  expect_holds(cut.err, {"1 line of 3 cut at 16 tokens"});
  const Outcome missing = program.run({"predict", "r", "nowhere.txt"});
  EXPECT_EQ(missing.code, 4);
  expect_holds(missing.err, {"nowhere.txt"});
  const Outcome folder = program.run({"predict", "r", "."});
  EXPECT_EQ(folder.code, 2);
  expect_holds(folder.err, {"folder"});
}

TEST(Row1, masked_models_fill_in_blanks) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "abcdefgh ";
  const Applied program("blanks", R"(
[data]
kind = "text"
path = "t.txt"
units = "characters"
length = 16
masking = "bert"
[model]
causal = false
layers = 1
width = 16
heads = 2
[optim]
lr = 1e-2
[train]
steps = 600
batch = 8
)",
                        {{"t.txt", text}});
  program.forget("t.txt");
  const Outcome outcome =
      program.predict("abc[MASK]efgh abcdefg[MASK] abc[MASK]efgh\nabcd\nab€[MASK]\n");
  EXPECT_EQ(outcome.code, 4);
  expect_holds(outcome.err, {"2 lines of 3", "line 2: there is no blank"});
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "text\tprobabilities");
  EXPECT_EQ(first_column(lines[1]), "abcdefgh abcdefgh abcdefgh");
  const auto json = nlohmann::json::parse(
      program.predict("abc?efgh abcdefg", {"--json", "--mask", "?", "--top", "3"}).out);
  EXPECT_EQ(json["blanks"].size(), 1u);
  EXPECT_EQ(json["blanks"][0].size(), 3u);
  EXPECT_EQ(json["blanks"][0][0]["token"], "d");
}

TEST(Row1, questions_are_answered_from_columns_and_json) {
  const Applied program("answers", R"(
[data]
kind = "qa"
train_path = "squad.json"
validation_path = "other.json"
length = 40
stride = 8
[model]
task = "span"
layers = 1
width = 16
heads = 2
[optim]
lr = 1e-2
[train]
steps = 200
batch = 4
)",
                        {{"squad.json", squad_sample("t-")}, {"other.json", squad_sample("v-")}});
  program.forget("squad.json");
  program.forget("other.json");
  const std::string document = "the north gate is red and the north tower is old, they say";
  const Outcome columns =
      program.predict("gate is\t" + document + "\nmoat is\t" + document + "\n", {"--bare"});
  ASSERT_EQ(columns.code, 0) << columns.err;
  const auto lines = lines_of(columns.out);
  EXPECT_EQ(first_column(lines[0]), "red");
  EXPECT_EQ(first_column(lines[1]), "");
  const nlohmann::json asked = {{"q", "gate is"}, {"d", document}};
  const auto json =
      nlohmann::json::parse(program.predict(asked.dump() + "\n", {"--field", "q,d", "--json"}).out);
  EXPECT_EQ(json["answer"], "red");
  EXPECT_EQ(program.predict("x\ty\n", {"--column", "1"}).code, 2);
}

TEST(Row15, targets_of_own_pairs_are_generated_without_the_data) {
  std::string pairs;
  for (int i = 0; i < 40; ++i)
    pairs += "text number " + std::to_string(i) + "\tno " + std::to_string(i % 2) + "\n";
  const Applied program("targets", R"(
[data]
kind = "pairs"
path = "pairs.tsv"
units = "characters"
length = 8
source_length = 16
[model]
task = "seq2seq"
layers = 1
width = 16
heads = 2
[optim]
lr = 1e-2
[train]
steps = 60
batch = 8
)",
                        {{"pairs.tsv", pairs}});
  const Outcome before = program.predict("text number 4\ntext number 5 text number 6\n");
  ASSERT_EQ(before.code, 0) << before.err;
  expect_holds(before.err, {"1 line of 2 cut at 16 tokens"});
  EXPECT_EQ(lines_of(before.out)[1].substr(0, 2), "no") << before.out;
  program.forget("pairs.tsv");
  EXPECT_EQ(program.predict("text number 4\ntext number 5 text number 6\n").out, before.out);
  EXPECT_EQ(program.predict("text number 4\n", {"--beams", "2"}).code, 0);
  EXPECT_EQ(program.run({"generate", "r", "--prompt", "text", "--temperature", "0"}).code, 0);
}

TEST(Row1, language_models_continue_texts) {
  const Applied program("continued", tiny_config, {});
  const Outcome outcome = program.predict("abc\nd\n", {"--tokens", "5", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const std::string& line : lines_of(outcome.out))
    EXPECT_EQ(std::string(nlohmann::json::parse(line)["continuation"]).size(), 5u);
  const Outcome unknown = program.predict("abc\n#\n");
  EXPECT_EQ(unknown.code, 4);
  expect_holds(unknown.err, {"line 2"});
  const Outcome cut = program.predict(std::string(60, 'a') + "\n", {"--tokens", "5"});
  expect_holds(cut.err, {"1 line of 1 cut to their last 19 tokens"});
}

TEST(Row1, models_of_images_read_no_texts_and_name_what_completes_and_classifies) {
  const std::string images = data::idx_images(40, 6, 8, [](auto i) { return i % 6 * 40; });
  std::vector<int> labels;
  for (int i = 0; i < 40; ++i) labels.push_back(i % 2);
  const std::string data = "[data]\nkind = \"images\"\ntrain_path = \"i.idx\"\nlength = 48\n";
  const std::string model = "layers = 1\nwidth = 16\nheads = 2\n[train]\nsteps = 2\nbatch = 2\n";
  const std::string classifies =
      "form = \"classify\"\nlabels_path = \"l.idx\"\n[model]\ntask = \"classify\"\n";
  for (const std::string& kind : {std::string("[model]\n"), classifies}) {
    const Applied program("images", data + kind + model,
                          {{"i.idx", images}, {"l.idx", data::idx_labels(labels)}});
    program.forget("i.idx");
    const Outcome refused = program.predict("10 20 30\n");
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    expect_holds(refused.err, {"reads images", "weft generate completes", "weft eval classifies"});
  }
}

TEST(Papercut2, other_labels_are_an_error_that_lists_them_and_fewer_are_none) {
  const Applied program("labels", classifier, {{"labelled.tsv", labelled_lines()}});
  program.write("new.tsv", "low\taaaa\nzzz\tzzzz\n");
  const Outcome other = program.run({"eval", "r", "data.path=new.tsv", "--whole"});
  EXPECT_EQ(other.code, 4) << other.out << other.err;
  expect_holds(other.err, {"class \"zzz\": in this data only", "class \"high\": in training only"});
  program.write("fewer.tsv", "low\taaaa\nhigh\tzzzz\nlow\taa\n");
  const Outcome fewer = program.run({"eval", "r", "data.path=fewer.tsv", "--whole", "--json"});
  ASSERT_EQ(fewer.code, 0) << fewer.err;
  EXPECT_EQ(nlohmann::json::parse(fewer.out)["tokens"], 3);
  EXPECT_EQ(nlohmann::json::parse(fewer.out)["split"], "whole");
  const Outcome part = program.run({"eval", "r", "data.path=labelled.tsv"});
  EXPECT_EQ(part.code, 0) << part.err;
  program.write("one.tsv", "low\taaaa\n");
  expect_holds(program.run({"eval", "r", "data.path=one.tsv", "--whole"}).out,
               {"whole file: ", " 1 sequences"});
  EXPECT_EQ(program.run({"eval", "r", "--whole"}).code, 2);
}

}  // namespace
}  // namespace weft::experiments::predict_test
