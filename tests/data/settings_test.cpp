#include "data/settings.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/data/refusal.h"

namespace weft::data {
namespace {

using core::Fields;

/// Notes which keys are visited and what is wrong with them, and sets the texts it was given.
class Visitor : public Fields {
 public:
  explicit Visitor(std::map<std::string, std::string, std::less<>> texts = {})
      : texts_(std::move(texts)) {}

  std::vector<std::unique_ptr<Fields>> tables(std::string_view, std::string_view) override {
    return {};
  }
  void problem(std::string_view key, const std::string&) override { problems += key; }

  std::string keys, problems;

 private:
  void visit(const core::Field& field) override {
    keys.append(keys.empty() ? "" : " ").append(field.key);
    std::string* const* text = std::get_if<std::string*>(&field.value);
    if (const auto found = texts_.find(field.key); text && found != texts_.end())
      **text = found->second;
  }

  std::map<std::string, std::string, std::less<>> texts_;
};

TEST(DataSettings, lists_only_the_settings_of_the_chosen_kind) {
  DataSettings settings;
  Visitor recall;
  settings.fields(recall);
  EXPECT_EQ(recall.keys, "kind length symbols keys payload gap successors source stream held_out");
  EXPECT_EQ(recall.problems, "");
  Visitor text({{"kind", "text"}, {"path", "book.txt"}});
  settings.fields(text);
  EXPECT_EQ(
      text.keys,
      "kind length path train_path validation_path test_path units sampling masking fractions");
  EXPECT_EQ(text.problems, "");
}

TEST(DataSettings, fractions_are_no_setting_of_files_that_are_splits_themselves) {
  DataSettings settings;
  Visitor visitor({{"kind", "text"}, {"train_path", "a"}, {"validation_path", "b"}});
  settings.fields(visitor);
  EXPECT_EQ(visitor.keys.find("fractions"), std::string::npos);
  EXPECT_EQ(visitor.problems, "");
}

TEST(DataSettings, reports_what_does_not_go_together) {
  const auto problems_of = [](DataSettings settings) {
    Visitor visitor;
    settings.fields(visitor);
    return visitor.problems;
  };
  DataSettings recall;
  recall.recall.successors = 27;
  EXPECT_EQ(problems_of(recall), "successors");
  recall = {};
  recall.length = 7;
  EXPECT_EQ(problems_of(recall), "length");
  recall = {};
  recall.recall.stream = 200;
  EXPECT_EQ(problems_of(recall), "stream");
  recall.recall.stream = 256;
  EXPECT_EQ(problems_of(recall), "");
  EXPECT_TRUE(recall.streams());

  DataSettings duplicate;
  duplicate.kind = "duplicate";
  EXPECT_EQ(problems_of(duplicate), "");
  duplicate.duplicate.word = 64;
  EXPECT_EQ(problems_of(duplicate), "length");
  duplicate.length = 130;
  EXPECT_EQ(problems_of(duplicate), "");

  DataSettings text;
  text.kind = "text";
  EXPECT_EQ(problems_of(text), "path");
  text.text.path = "book.txt";
  text.text.fractions = {0.5, 0.5};
  EXPECT_EQ(problems_of(text), "fractions");
  text.text.fractions = {0.9, 0.1, 0.1};
  EXPECT_EQ(problems_of(text), "fractions");
  text.text.train_path = "train.txt";
  EXPECT_EQ(problems_of(text), "path");
  text.text.path = "";
  EXPECT_EQ(problems_of(text), "");
  text.text.train_path = "";
  text.text.test_path = "test.txt";
  EXPECT_EQ(problems_of(text), "train_path");
}

TEST(DataSettings, make_the_dataset_they_describe) {
  EXPECT_EQ(make_dataset({}, 4, 1)->unit(), "symbol");
  EXPECT_FALSE(make_dataset({}, 4, 1)->scored_part().has_value());
  DataSettings duplicate;
  duplicate.kind = "duplicate";
  EXPECT_EQ(make_dataset(duplicate, 4, 1)->vocabulary(), 128);
  DataSettings text;
  text.kind = "text";
  text.text.path = testing::TempDir() + "weft-settings-" + std::to_string(getpid()) + ".txt";
  std::ofstream(text.text.path) << std::string(1000, 'a');
  EXPECT_EQ(make_dataset(text, 4, 1)->unit(), "byte");
  EXPECT_FALSE(make_dataset(text, 4, 1)->floor_bits().has_value());
  EXPECT_FALSE(make_dataset(text, 4, 1)->chance().has_value());
  std::filesystem::remove(text.text.path);
}

TEST(DataSettings, refuse_what_no_dataset_can_be) {
  DataSettings settings;
  settings.kind = "sound";
  expect_says(refusal_of([&] { make_dataset(settings, 1, 1); }), core::Fault::usage, "data.kind",
              "'sound'");
  settings = {};
  EXPECT_THROW(make_dataset(settings, 0, 1), core::Error);
  settings.length = 0;
  EXPECT_THROW(make_dataset(settings, 1, 1), core::Error);
}

}  // namespace
}  // namespace weft::data
