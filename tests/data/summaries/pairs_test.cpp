#include "data/summaries/pairs.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "data/files/json_text.h"
#include "data/summaries/pair_file.h"
#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"
#include "tests/data/spelling/sample_tokenizer.h"

namespace weft::data::pairs_test {
namespace {

Pairs from(const string& content, PairsSettings settings = {}, Index length = 8, Index batch = 1) {
  const ScratchFile file(content);
  settings.files.train_path = file.path();
  return Pairs(settings, length, batch, 1);
}

std::vector<Token> row(const core::Tokens& tokens) {
  return {tokens.read().begin(), tokens.read().end()};
}

TEST(Pairs, targets_begin_and_end_with_0_and_are_cut_at_the_length) {
  const Pairs data = from("abcde\txy\n", {.source_length = 4}, 4);
  EXPECT_EQ(data.vocabulary(), 257);
  const Batch batch = data.training(0);
  const Token x = 'x' + 1, y = 'y' + 1;
  EXPECT_EQ(row(batch.sources), (std::vector<Token>{'a' + 1, 'b' + 1, 'c' + 1, 'd' + 1}));
  EXPECT_EQ(batch.source_lengths->front(), 4);
  EXPECT_EQ(row(batch.inputs), (std::vector<Token>{0, x, y, 0}));
  EXPECT_EQ(row(batch.targets), (std::vector<Token>{x, y, 0, core::no_target}));
  const Batch cut = from("a\txyxyx\n", {}, 4).training(0);
  EXPECT_EQ(row(cut.inputs), (std::vector<Token>{0, x, y, x}));
  EXPECT_EQ(row(cut.targets), (std::vector<Token>{x, y, x, y}));
  EXPECT_EQ(from("a\txyxyx\n", {}, 4).reference(Split::training, 0), "xyxyx");
}

TEST(Pairs, says_what_share_is_cut) {
  const Pairs data = from("abcde\tx\nab\txyxyxyxy\nab\txy\nab\txy\n", {.source_length = 4});
  ASSERT_EQ(data.remarks().size(), 1u);
  EXPECT_NE(data.remarks()[0].find("4 pairs; 25 % of sources are cut at 4"), string::npos)
      << data.remarks()[0];
  EXPECT_NE(data.remarks()[0].find("25 % of targets at 8"), string::npos) << data.remarks()[0];
}

TEST(Pairs, columns_are_chosen_by_number_or_name_and_escapes_are_read) {
  const string table = "id\tshort\tlong\n1\ts\\n\\\\t\tl\n";
  const PairsSettings settings{
      .columns = {.source = "long", .target = "2", .header = true, .escapes = true}};
  EXPECT_EQ(from(table, settings).reference(Split::training, 0), "s\n\\t");
  PairsSettings plain = settings;
  plain.columns.escapes = false;
  EXPECT_EQ(from(table, plain).reference(Split::training, 0), "s\\n\\\\t");
}

TEST(Pairs, json_lines_have_fields) {
  const string lines =
      "{\"doc\": \"a\\nb\", \"sum\": \"\\u00e9\", \"x\": [1]}\n\n{\"doc\": \"c\", \"sum\": "
      "\"d\"}\n";
  const PairsSettings settings{
      .columns = {.json = true}, .source_field = "doc", .target_field = "sum"};
  const Pairs data = from(lines, settings);
  EXPECT_EQ(data.reference(Split::training, 0), "\u00e9");
  EXPECT_EQ(data.evaluation_batches(Split::training, 8), 2);
  PairsSettings characters = settings;
  characters.units.kind = Unit::characters;
  EXPECT_EQ(from(lines, characters).vocabulary(), 1 + 6);  // line break, a, b, c, d, é
}

TEST(Pairs, what_a_line_holds_besides_its_fields_is_not_kept) {
  const auto json = parse_json(R"({"a": "x", "b": [[1, 2], {"a": 3}], "c": {"d": "y"}})", "here",
                               {"a", "c", "d"});
  EXPECT_EQ(json.dump(), R"({"a":"x","c":{"d":"y"}})");
}

TEST(Pairs, of_a_record_only_its_texts_are_kept) {
  EXPECT_EQ(
      parse_record(R"({"a": [[1, 2], {"b": 3}], "b": "x", "c": 1})", "here", {"a", "b"}).dump(),
      R"({"a":[],"b":"x"})");
  EXPECT_EQ(parse_record("[0, 0, 0]", "here", {"a"}).dump(), "null");
}

TEST(Pairs, a_line_of_very_many_columns_is_read_as_far_as_it_is_asked_for) {
  const ScratchFile file("a\tb" + std::string(100'000, '\t') + "\nc\td\n");
  const auto pairs = read_pair_file(file.path(), {});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].target, "b");
  expect_says(
      refusal_of([&] { read_pair_file(file.path(), {.target = "99999999999", .header = true}); }),
      core::Fault::data, "no column is named", ", ...");
}

TEST(Pairs, equal_sources_stay_in_one_split) {
  string lines;
  for (int i = 0; i < 60; ++i)
    lines += "source " + std::to_string(i / 3) + "\ttarget " + std::to_string(i) + "\n";
  const ScratchFile file(lines);
  PairsSettings settings;
  settings.files.path = file.path();
  settings.files.fractions = {0.5, 0.25, 0.25};
  const Pairs data(settings, 16, 1, 1);
  std::map<std::vector<Token>, std::set<Split>> splits;
  Index all = 0;
  for (const Split split : {Split::training, Split::validation, Split::test})
    for (Index i = 0; i < data.evaluation_batches(split, 16); ++i, ++all)
      splits[row(data.evaluation(split, i, 16).sources)].insert(split);
  EXPECT_EQ(all, 60);
  EXPECT_EQ(splits.size(), 20u);
  for (const auto& [source, own] : splits) EXPECT_EQ(own.size(), 1u);
}

TEST(Pairs, an_epoch_reads_every_pair_once_in_an_order_of_its_own) {
  string lines;
  for (char c = 'a'; c <= 'j'; ++c) lines += string(1, c) + "\t" + c + "\n";
  const Pairs data = from(lines), other = from(lines);
  std::vector<std::vector<Token>> epochs(2);
  for (Index i = 0; i < 20; ++i) {
    epochs[std::size_t(i / 10)].push_back(data.training(i).targets.read()[0]);
    EXPECT_TRUE(same(data.training(i), other.training(i)));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  for (const auto& epoch : epochs) EXPECT_EQ(std::set(epoch.begin(), epoch.end()).size(), 10u);
}

TEST(Pairs, what_is_wrong_with_a_line_is_said_with_its_number) {
  const auto refused = [](const string& content, PairFields fields) {
    return refusal_of([&] { from(content, {.columns = fields}); });
  };
  const PairFields columns, escaped{.escapes = true}, json{.json = true};
  expect_says(refused("a\tb\nc\n", columns), core::Fault::data, "text.txt:2", "has 1 column",
              "data.source_column and data.target_column");
  expect_says(refused("a\tb\n\tc\n", columns), core::Fault::data, "text.txt:2", "source is empty");
  expect_says(refused("a\t\n", columns), core::Fault::data, "text.txt:1", "target is empty");
  expect_says(refused("a\tb\\x\n", escaped), core::Fault::data, "text.txt:1", "'x'",
              "data.escapes = false");
  expect_says(refused("a\tb\\\n", escaped), core::Fault::data, "followed by nothing");
  expect_says(refused("{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": ", json),
              core::Fault::data, "text.txt:2", "no valid JSON");
  expect_says(refused("{\"source\": \"a\"}", json), core::Fault::data, "text.txt:1", "\"target\"");
  expect_says(refused("{\"source\": 3, \"target\": \"b\"}", json), core::Fault::data, "is no text");
  expect_says(refused("[]", json), core::Fault::data, "no JSON object");
  expect_says(refused("{\"source\": \"a\", \"x\": 1e999}", json), core::Fault::data, "text.txt:1",
              "no valid JSON", "1e999");
  const core::Error endless = refused("{\"x\": 1" + string(100'000, '0') + "e999}", json);
  EXPECT_LT(string(endless.what()).size(), 1000u);
  expect_says(refused("\n\n", json), core::Fault::data, "holds no line");
  expect_says(refusal_of([] { from("a\tb\n").evaluation_batches(Split::test, 8); }),
              core::Fault::data, "test_path");
}

TEST(Pairs, settings_exist_for_their_format_only) {
  const auto given = [](const char* format) {
    return GivenData(
        {{"kind", string("pairs")}, {"path", string("x")}, {"format", string(format)}});
  };
  EXPECT_TRUE(given("columns").lists("source_column"));
  EXPECT_FALSE(given("columns").lists("source_field"));
  EXPECT_TRUE(given("json").lists("target_field"));
  EXPECT_FALSE(given("json").lists("escapes"));
  EXPECT_TRUE(given("json").traits().sources);
  EXPECT_EQ(given("json").traits().source_length, 512);
  EXPECT_EQ(GivenData({{"kind", string("pairs")}}).problems(), Keys{"path"});
}

TEST(Pairs, are_read_in_pieces_whose_bits_are_those_of_bytes) {
  if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  const ScratchFile model(made_model());
  const auto sentences = made_sentences(2);
  PairsSettings settings;
  settings.units = {Unit::sentencepiece, model.path()};
  const Pairs data = from(sentences[0] + "\t" + sentences[1] + "\n", settings);
  const Tokenizer tokenizer = Tokenizer::read(model.path());
  EXPECT_EQ(data.vocabulary(), tokenizer.vocabulary() + 1);
  EXPECT_EQ(data.unit(), "byte");
  EXPECT_EQ(data.text_bytes(*data.boundary()), 0);
  const std::vector<Token> tokens = data.encode(sentences[1]);
  EXPECT_EQ(tokens.size(), tokenizer.encode(sentences[1]).size());
  EXPECT_EQ(data.decode(tokens), sentences[1]);
  EXPECT_EQ(data.text_bytes(tokens[0]), Index(data.decode(std::span(tokens).first(1)).size()));
  EXPECT_NE(data.fingerprint(), from(sentences[0] + "\t" + sentences[1] + "\n").fingerprint());
}

}  // namespace
}  // namespace weft::data::pairs_test
