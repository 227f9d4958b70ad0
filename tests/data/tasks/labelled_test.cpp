#include "data/tasks/labelled.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"
#include "tests/data/spelling/sample_tokenizer.h"

namespace weft::data::labelled_test {
namespace {

LabelledSettings whole(const ScratchFile& file) {
  LabelledSettings settings;
  settings.files.path = file.path();
  settings.files.fractions = {1, 0, 0};
  return settings;
}

/// The texts and labels of the rows of a batch that are scored.
std::multimap<std::string, Token> rows_of(const Labelled& data, const Batch& batch) {
  std::multimap<std::string, Token> rows;
  const Index length = batch.inputs.shape()[1];
  for (Index row = 0; row < batch.inputs.shape()[0]; ++row) {
    const Token label = batch.targets.read()[std::size_t(row)];
    if (label == core::no_target) continue;
    rows.emplace(
        data.decode(batch.inputs.read().subspan(std::size_t(row * length), std::size_t(length))),
        label);
  }
  return rows;
}

std::multimap<std::string, Token> texts_in(const Labelled& data, Split split, Index length) {
  std::multimap<std::string, Token> all;
  for (Index i = 0; i < data.evaluation_batches(split, length); ++i)
    all.merge(rows_of(data, data.evaluation(split, i, length)));
  return all;
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i % 3 == 0 ? "zero\tnumber " : "other\tnumber ") + std::to_string(i) + "\n";
  return text;
}

TEST(Labelled, reads_bytes_one_higher_cut_at_the_length_and_padded_with_zero) {
  const ScratchFile file("pos\tabc\nneg\tabcdefgh\r\npos\t\xff\n");
  const Labelled data(whole(file), 5, 3, 1);
  EXPECT_EQ(data.vocabulary(), 257);
  EXPECT_EQ(data.classes(), 2);
  EXPECT_EQ(data.class_names(), (std::vector<std::string>{"neg", "pos"}));
  EXPECT_EQ(data.training_tokens(), 3 + 5 + 1);
  const Batch batch = data.evaluation(Split::training, 0, 5);
  ASSERT_EQ(batch.inputs.shape(), (core::Shape{3, 5}));
  const auto ids = batch.inputs.read();
  EXPECT_EQ(std::vector<Token>(ids.begin(), ids.end()),
            (std::vector<Token>{98, 99, 100, 0, 0, 98, 99, 100, 101, 102, 256, 0, 0, 0, 0}));
  EXPECT_EQ(*batch.lengths, (std::vector<Index>{3, 5, 1}));
  const auto labels = batch.targets.read();
  EXPECT_EQ(std::vector<Token>(labels.begin(), labels.end()), (std::vector<Token>{1, 0, 1}));
  EXPECT_EQ(data.encode("abc"), (std::vector<Token>{98, 99, 100}));
}

TEST(Labelled, finds_columns_by_number_or_by_their_name_in_the_header) {
  const ScratchFile file("Id\tSource\tTarget\n7\tone two\tx\n8\tthree\ty\n");
  LabelledSettings settings = whole(file);
  settings.columns.header = true;
  settings.columns.label = "Target";
  settings.columns.text = "Source";
  const Labelled named(settings, 8, 2, 1);
  EXPECT_EQ(texts_in(named, Split::training, 8),
            (std::multimap<std::string, Token>{{"one two", 0}, {"three", 1}}));
  settings.columns.label = "3";
  settings.columns.text = "2";
  EXPECT_EQ(named.fingerprint(), Labelled(settings, 8, 2, 1).fingerprint());
}

TEST(Labelled, an_epoch_reads_every_text_once_in_an_order_of_its_own) {
  const ScratchFile file(numbered_lines(20));
  const Labelled data(whole(file), 16, 5, 1), other(whole(file), 16, 5, 2);
  std::multimap<std::string, Token> first, second;
  for (Index i = 0; i < 4; ++i) {
    first.merge(rows_of(data, data.training(i)));
    second.merge(rows_of(data, data.training(4 + i)));
  }
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.size(), 20u);
  EXPECT_FALSE(same(data.training(0), data.training(4)));
  EXPECT_FALSE(same(data.training(0), other.training(0)));
  EXPECT_TRUE(same(data.training(9), Labelled(whole(file), 16, 5, 1).training(9)));
  EXPECT_EQ(data.fingerprint(), other.fingerprint());
}

TEST(Labelled, fractions_divide_a_file_so_that_equal_texts_stay_together) {
  const ScratchFile file(numbered_lines(100) + numbered_lines(100));
  LabelledSettings settings;
  settings.files.path = file.path();
  settings.files.fractions = {0.5, 0.3, 0.2};
  const Labelled data(settings, 16, 7, 1);
  std::map<Split, std::set<std::string>> texts;
  for (const Split split : {Split::training, Split::validation, Split::test})
    for (const auto& [text, label] : texts_in(data, split, 16)) texts[split].insert(text);
  EXPECT_EQ(texts[Split::training].size(), 50u);
  EXPECT_EQ(texts[Split::validation].size(), 30u);
  EXPECT_EQ(texts[Split::test].size(), 20u);
  std::set<std::string> all;
  for (const auto& [split, own] : texts) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), 100u);
  EXPECT_EQ(texts_in(data, Split::test, 16).size(), 40u);
}

TEST(Labelled, files_may_be_the_splits) {
  const ScratchFile training("a\tone\nb\ttwo\n"), validation("b\tthree\n");
  LabelledSettings settings;
  settings.files.train_path = training.path();
  settings.files.validation_path = validation.path();
  const Labelled data(settings, 8, 2, 1);
  EXPECT_EQ(texts_in(data, Split::validation, 8),
            (std::multimap<std::string, Token>{{"three", 1}}));
  expect_says(refusal_of([&] { data.evaluation_batches(Split::test, 8); }), core::Fault::data,
              "test split", "data.test_path");
}

TEST(Labelled, texts_that_are_too_short_are_left_out_and_full_ones_need_no_padding) {
  const ScratchFile file("a\tlong enough\nb\tshort\na\tlong as well\nb\t\n");
  LabelledSettings settings = whole(file);
  EXPECT_EQ(texts_in(Labelled(settings, 8, 2, 1), Split::training, 8).size(), 3u);
  settings.shortest = 8;
  const Labelled data(settings, 8, 2, 1);
  EXPECT_EQ(data.evaluation(Split::training, 0, 8).lengths, nullptr);
  EXPECT_EQ(texts_in(data, Split::training, 8).size(), 2u);
}

TEST(Labelled, the_majority_is_counted_on_the_split) {
  const ScratchFile file(numbered_lines(30));
  const Labelled data(whole(file), 16, 4, 1);
  ASSERT_EQ(data.baselines(Split::training).size(), 1u);
  EXPECT_EQ(data.baselines(Split::training)[0].accuracy, 20 / 30.0);
  EXPECT_EQ(data.chance(), 0.5);
}

TEST(LabelledErrors, name_file_and_line_and_what_to_do) {
  const auto refusal = [](const std::string& content, bool header = false,
                          const std::string& label = "1") {
    const ScratchFile file(content);
    LabelledSettings settings = whole(file);
    settings.columns.header = header;
    settings.columns.label = label;
    const core::Error error = refusal_of([&] { Labelled(settings, 8, 2, 1); });
    EXPECT_NE(std::string(error.what()).find(header || label == "1" ? file.path() : "data."),
              std::string::npos)
        << error.what();
    return error;
  };
  expect_says(refusal("a\tx\nb\n"), core::Fault::data, ":2:", "1 column", "data.text_column",
              "tabs");
  expect_says(refusal("a\tx\n\nb\ty\n"), core::Fault::data, ":2:", "remove the line");
  expect_says(refusal("a\tx\n\ty\n"), core::Fault::data, ":2:", "label is empty");
  expect_says(refusal("a\tx\na\ty\n"), core::Fault::data, "1 different labels",
              "data.label_column");
  expect_says(refusal("l\tt\na\tx\n", true, "class"), core::Fault::data, ":1:", "\"class\"",
              "l, t");
  expect_says(refusal("a\tx\nb\ty\n", false, "class"), core::Fault::usage, "data.label_column",
              "data.header");
  expect_says(refusal("label\ttext\n", true), core::Fault::data, "without any line of data");
  expect_says(refusal(""), core::Fault::data, "is empty");
}

TEST(LabelledErrors, a_label_that_training_lacks_is_named) {
  const ScratchFile training("a\tone\nb\ttwo\n"), validation("a\tthree\nc\tfour\n");
  LabelledSettings settings;
  settings.files.train_path = training.path();
  settings.files.validation_path = validation.path();
  expect_says(refusal_of([&] { Labelled(settings, 8, 2, 1); }), core::Fault::data,
              validation.path() + ":2:", "\"c\"", "training");
}

TEST(LabelledSettings, report_what_does_not_go_together) {
  const auto labelled = [](tests::Settings given) {
    given["kind"] = string("labelled");
    return GivenData(std::move(given));
  };
  EXPECT_EQ(labelled({}).problems(), Keys{"path"});
  const GivenData one = labelled({{"path", string("a.tsv")}});
  EXPECT_EQ(one.problems(), Keys{});
  EXPECT_TRUE(one.lists("fractions"));
  EXPECT_TRUE(one.traits().classifies);
  EXPECT_TRUE(one.traits().pads);
  const GivenData full = labelled({{"train_path", string("a.tsv")}, {"shortest", Index(128)}});
  EXPECT_EQ(full.problems(), Keys{});
  EXPECT_FALSE(full.lists("fractions"));
  EXPECT_FALSE(full.traits().pads);
  EXPECT_EQ(labelled({{"path", string("a.tsv")}, {"text_column", string("1")}}).problems(),
            Keys{"text_column"});
  EXPECT_EQ(labelled({{"path", string("a.tsv")}, {"shortest", Index(129)}}).problems(),
            Keys{"shortest"});
}

TEST(Labelled, reads_pieces_one_higher_cut_at_the_length) {
  if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  const ScratchFile model(made_model());
  std::string lines;
  for (const std::string& sentence : made_sentences(30, 9))
    lines += (sentence < "m" ? "low\t" : "high\t") + sentence + "\n";
  const ScratchFile file(lines);
  LabelledSettings settings = whole(file);
  settings.units = {Unit::sentencepiece, model.path()};
  const Tokenizer tokenizer = Tokenizer::read(model.path());
  const Labelled data(settings, 12, 4, 1);
  EXPECT_EQ(data.vocabulary(), tokenizer.vocabulary() + 1);
  std::multimap<std::string, Token> expected;
  for (const std::string& sentence : made_sentences(30, 9)) {
    std::vector<Token> tokens = tokenizer.encode(sentence);
    tokens.resize(std::min<std::size_t>(tokens.size(), 12));
    expected.emplace(tokenizer.decode(tokens), sentence < "m" ? 1 : 0);
  }
  EXPECT_EQ(texts_in(data, Split::training, 12), expected);
  EXPECT_NE(data.remarks().at(0).find("12 pieces"), std::string::npos) << data.remarks().at(0);
  EXPECT_NE(data.fingerprint(), Labelled(whole(file), 12, 4, 1).fingerprint());
}

}  // namespace
}  // namespace weft::data::labelled_test
