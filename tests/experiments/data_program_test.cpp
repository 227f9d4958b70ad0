#include "experiments/run/metrics_log.h"
#include "tests/experiments/program.h"

namespace weft::experiments::data_program_test {
namespace {

const char* const text_config = R"(
[data]
kind = "text"
length = 16

[model]
layers = 1
width = 8
heads = 2

[train]
steps = 12
batch = 2
eval_every = 6
checkpoint_every = 4
)";

std::string some_text() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i * i % 97) + " – weft\n";
  return text;
}

std::vector<double> losses(const Program& program, const std::string& run) {
  std::vector<double> found;
  for (const MetricRecord& record : read_metrics(program.directory() / run / "metrics.jsonl"))
    if (record.has("loss")) found.push_back(record.number("loss"));
  return found;
}

TEST(DataProgram, a_prepared_text_trains_as_the_text_itself) {
  const Program program("prepare");
  program.write("t.txt", some_text());
  program.write("c.toml", text_config);
  const Outcome prepared =
      program.run({"data", "prepare", "t.txt", "-o", "t.h5", "--units", "characters"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  EXPECT_NE(prepared.out.find("data.path=t.h5"), std::string::npos) << prepared.out;
  ASSERT_EQ(
      program.run({"train", "c.toml", "--run", "a", "data.path=t.txt", "data.units=characters"})
          .code,
      0);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "b", "data.path=t.h5"}).code, 0);
  EXPECT_EQ(losses(program, "a"), losses(program, "b"));
  EXPECT_EQ(losses(program, "a").size(), 12u);
}

TEST(DataProgram, a_run_resumes_on_the_prepared_text_it_began_with_and_on_no_other) {
  const Program program("prepare_resume");
  program.write("t.txt", some_text());
  program.write("c.toml", text_config);
  ASSERT_EQ(program.run({"data", "prepare", "t.txt", "-o", "t.h5"}).code, 0);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "a", "data.path=t.h5"}).code, 0);
  EXPECT_EQ(program.run({"train", "a", "--resume", "train.steps=14"}).code, 0);
  program.write("t.txt", some_text() + "more");
  ASSERT_EQ(program.run({"data", "prepare", "t.txt", "-o", "t.h5", "--force"}).code, 0);
  const Outcome other = program.run({"train", "a", "--resume", "train.steps=16"});
  EXPECT_EQ(other.code, 4);
  EXPECT_NE(other.err.find("fingerprint"), std::string::npos) << other.err;
  std::filesystem::resize_file(program.directory() / "t.h5", 3000);
  const Outcome cut = program.run({"train", "a", "--resume", "train.steps=16"});
  EXPECT_EQ(cut.code, 4);
  EXPECT_NE(cut.err.find("weft data prepare"), std::string::npos) << cut.err;
}

TEST(DataProgram, preparing_refuses_what_it_cannot_do_and_says_why) {
  const Program program("prepare_refused");
  program.write("t.txt", some_text());
  program.write("bad.txt", "good \xff bad");
  program.write("empty.txt", "");
  program.write("there.h5", "something dear");
  const auto refused = [&](std::vector<std::string> words, int code, const std::string& said) {
    words.insert(words.begin(), {"data", "prepare"});
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
  };
  refused({"bad.txt", "-o", "x.h5", "--units", "characters"}, 4, "not UTF-8 at byte 5");
  refused({"empty.txt", "-o", "x.h5"}, 4, "is empty");
  refused({"none.txt", "-o", "x.h5"}, 4, "does not exist");
  refused({"t.txt", "-o", "there.h5"}, 2, "--force");
  refused({"t.txt", "-o", "no/folder/x.h5"}, 2, "no folder");
  refused({"t.txt", "-o", "x.bin"}, 2, "FILE.h5");
  refused({"t.txt", "-o", "x.h5", "--fractions", "0.9,0.2,0"}, 2, "more than 1");
  refused({"t.txt", "-o", "x.h5", "--fractions", "0.9,much,0"}, 2, "much is not a number");
  refused({"t.txt", "-o", "x.h5", "--units", "words"}, 2, "bytes, characters or sentencepiece");
  refused({"t.txt", "-o", "x.h5", "--test", "t.txt", "--fractions", "1,0,0"}, 2, "--fractions");
  EXPECT_EQ(read_text(program.directory() / "there.h5"), "something dear");
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "x.h5"));
  EXPECT_EQ(program.run({"data", "sort"}).code, 2);
}

TEST(DataProgram, a_prepared_text_has_units_and_splits_of_its_own) {
  const Program program("prepare_config");
  program.write("c.toml", text_config);
  const Outcome outcome = program.run({"config", "c.toml", "data.path=t.h5", "data.units=bytes"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("data.units"), std::string::npos) << outcome.err;
  const Outcome split = program.run({"config", "c.toml", "data.train_path=t.h5"});
  EXPECT_EQ(split.code, 2);
  EXPECT_NE(split.err.find("name it in data.path"), std::string::npos) << split.err;
}

TEST(DataProgram, files_that_are_broken_or_in_other_formats_are_refused_by_every_command) {
  const Program program("refused_files");
  program.write("c.toml", text_config);
  program.write("whole.txt", some_text());
  program.write("broken.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3 no deflate", 22));
  program.write("cut.xz", std::string("\xfd"
                                      "7zXZ\0\0\4",
                                      8));
  program.write("a.7z", "7z\xbc\xaf\x27\x1c and more");
  std::filesystem::create_directory(program.directory() / "empty");
  for (const auto& [file, said] : {std::pair{"broken.gz", "cannot be unpacked"},
                                   {"cut.xz", "it ends in the middle"},
                                   {"a.7z", "is compressed with 7-Zip"},
                                   {"empty", "is a folder without a file of text"}}) {
    const std::vector<std::vector<std::string>> commands = {
        {"train", "c.toml", "--run", "a", std::string("data.path=") + file},
        {"data", "prepare", file, "-o", "x.h5"},
        {"data", "prepare", "whole.txt", file, "-o", "x.h5", "--documents", "files"}};
    for (const auto& words : commands) {
      const Outcome outcome = program.run(words);
      EXPECT_EQ(outcome.code, 4) << file << ": " << outcome.err;
      expect_holds(outcome.err, {file, said});
    }
  }
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "x.h5"));
}

const char* const long_line =
    "the quick brown fox jumps over the lazy dog and runs away from "
    "all of the other animals in the wide green forest at night";

TEST(DataProgram, dedup_keeps_the_first_of_each_kind_and_says_what_it_dropped) {
  const Program program("dedup");
  const std::string line = long_line, other = "something else\n";
  program.write("in.txt", line + "\n" + other + "\nThe QUICK" + line.substr(9) + "\n" + line +
                              " long\n" + other);
  const Outcome outcome =
      program.run({"data", "dedup", "in.txt", "-o", "kept.txt", "--report", "r.jsonl"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_text(program.directory() / "kept.txt"), line + "\n" + other + "\n");
  EXPECT_NE(outcome.out.find("5 documents: 2 kept, 3 dropped, 2 of them the same and 1 nearly"),
            std::string::npos)
      << outcome.out;
  const std::string report = read_text(program.directory() / "r.jsonl");
  EXPECT_NE(report.find("{\"dropped\":4,\"kept\":1,\"similarity\":1.0}\n"), std::string::npos)
      << report;
  EXPECT_NE(report.find("{\"dropped\":5,\"kept\":1,\"similarity\":0.95"), std::string::npos)
      << report;
  EXPECT_NE(report.find("{\"dropped\":6,\"kept\":2,\"similarity\":1.0}\n"), std::string::npos);
}

TEST(DataProgram, dedup_reads_a_field_of_json_lines_and_leaves_them_as_they_are) {
  const Program program("dedup_json");
  const std::string first = "{\"text\": \"" + std::string(long_line) + "\", \"id\":  1}\n";
  const std::string second = "{\"id\": 2, \"text\": \"" + std::string(long_line) + "!\"}";
  program.write("in.jsonl", first + second);
  const Outcome outcome =
      program.run({"data", "dedup", "in.jsonl", "-o", "out.jsonl", "--field", "text"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_text(program.directory() / "out.jsonl"), first);
  program.write("bad.jsonl", first + "{\"id\": 3}\n");
  const Outcome bad = program.run({"data", "dedup", "bad.jsonl", "-o", "x", "--field", "text"});
  EXPECT_EQ(bad.code, 4);
  EXPECT_NE(bad.err.find("'bad.jsonl':2"), std::string::npos) << bad.err;
  EXPECT_EQ(program.run({"data", "dedup", "in.jsonl", "-o", "in.jsonl", "--force"}).code, 2);
  EXPECT_EQ(program.run({"data", "dedup", "in.jsonl", "-o", "y", "--threshold", "2"}).code, 2);
}

}  // namespace
}  // namespace weft::experiments::data_program_test
