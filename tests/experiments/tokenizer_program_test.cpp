// Subword tokens from the first command to the last: learned, trained on, kept with the model.
#include "data/spelling/sentencepiece.h"
#include "experiments/checkpoint/checkpoint.h"
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/saved_spelling.h"
#include "tests/experiments/program.h"

namespace weft::experiments::tokenizer_program_test {
namespace {

const char* const subword_config = R"(
[data]
kind = "text"
path = "t.txt"
units = "sentencepiece"
tokenizer = "x.model"
length = 16
fractions = [0.8, 0.1, 0.1]

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

/// Words of two syllables, as often as not with one of two bytes a letter.
std::string subword_text() {
  const std::vector<std::string> parts = {"wea", "ving", "wör", "ter", "thre",
                                          "ad",  "warp", "loo", "ms",  "und"};
  std::string text;
  for (std::size_t i = 0; i < 4000; ++i)
    text += parts[(i * i + i / 7) % parts.size()] + parts[(i * i * i / 5 + i) % parts.size()] +
            (i % 9 == 8 ? ".\n" : " ");
  return text;
}

class Subwords : public Program {
 public:
  explicit Subwords(const std::string& name) : Program("tokenizer_" + name) {
    write("t.txt", subword_text());
    write("c.toml", subword_config);
  }
  Outcome learn(const std::string& file = "x.model", const std::string& size = "300") const {
    return run({"data", "tokenizer", "t.txt", "-o", file, "--size", size});
  }
  void remove(const std::string& file) const { std::filesystem::remove(directory() / file); }
};

class TokenizerProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!data::has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  }
};

TEST_F(TokenizerProgram, learns_the_same_file_of_the_size_that_was_asked_for) {
  const Subwords program("learn");
  const Outcome learned = program.learn();
  ASSERT_EQ(learned.code, 0) << learned.err;
  EXPECT_NE(learned.out.find("300 tokens"), std::string::npos) << learned.out;
  EXPECT_NE(learned.err.find("learning"), std::string::npos) << learned.err;
  EXPECT_EQ(learned.err.find("LOG("), std::string::npos) << learned.err;
  ASSERT_EQ(program.learn("y.model").code, 0);
  EXPECT_EQ(read_text(program.directory() / "x.model"), read_text(program.directory() / "y.model"));
  ASSERT_EQ(
      program.run({"data", "tokenizer", "t.txt", "-o", "b.model", "--size", "300", "--kind", "bpe"})
          .code,
      0);
  EXPECT_NE(read_text(program.directory() / "b.model"), read_text(program.directory() / "y.model"));
}

TEST_F(TokenizerProgram, learns_from_folders_json_lines_and_a_sample) {
  const Subwords program("sources");
  std::filesystem::create_directory(program.directory() / "texts");
  const std::string text = subword_text();
  program.write("texts/a.txt", text.substr(0, text.size() / 2));
  program.write("texts/b.txt", text.substr(text.size() / 2));
  EXPECT_EQ(program.run({"data", "tokenizer", "texts", "-o", "folder.model", "--size", "300"}).code,
            0);
  std::string lines;
  for (std::size_t at = 0; at < 4000; at = text.find('\n', at) + 1)
    lines += "{\"body\": \"" + text.substr(at, text.find('\n', at) - at) + "\"}\n\n";
  program.write("t.jsonl", lines);
  EXPECT_EQ(program
                .run({"data", "tokenizer", "t.jsonl", "-o", "json.model", "--size", "290",
                      "--field", "body"})
                .code,
            0);
  const Outcome wrong =
      program.run({"data", "tokenizer", "t.jsonl", "-o", "no.model", "--field", "text"});
  EXPECT_EQ(wrong.code, 4);
  EXPECT_NE(wrong.err.find("t.jsonl':1"), std::string::npos) << wrong.err;
  const Outcome sampled = program.run(
      {"data", "tokenizer", "t.txt", "-o", "s.model", "--size", "290", "--sample", "0.005"});
  EXPECT_EQ(sampled.code, 0) << sampled.err;
  EXPECT_NE(sampled.err.find("0.00 MB of 0.03 MB"), std::string::npos) << sampled.err;
}

TEST_F(TokenizerProgram, says_what_to_do_where_it_cannot_learn) {
  const Subwords program("refusals");
  const auto expect = [&](const Outcome& outcome, int code, const std::string& words) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  };
  expect(program.learn("x.model", "100000"), 4, "or less");
  expect(program.learn("x.model", "262"), 4, "or more");
  expect(program.learn("x.model", "10"), 2, "256 bytes");
  program.write("empty.txt", "");
  expect(program.run({"data", "tokenizer", "empty.txt", "-o", "x.model"}), 4, "no text");
  expect(program.run({"data", "tokenizer", "nothing.txt", "-o", "x.model"}), 4, "nothing.txt");
  ASSERT_EQ(program.learn().code, 0);
  expect(program.learn(), 2, "--force");
  expect(program.run({"data", "tokenizer", "t.txt", "-o", "t.txt", "--force"}), 2, "t.txt");
}

TEST_F(TokenizerProgram, a_run_resumes_exactly_and_needs_no_tokenizer_file) {
  const Subwords program("resume");
  ASSERT_EQ(program.learn().code, 0);
  const Outcome whole = program.run({"train", "c.toml", "--run", "whole"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.out.find("bits per byte"), std::string::npos) << whole.out;
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "cut", "train.steps=8"}).code, 0);
  program.remove("x.model");
  const Outcome resumed = program.run({"train", "cut", "--resume", "train.steps=12"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto model_of = [&](const char* run) {
    return load_checkpoint(program.directory() / run / "checkpoints/ckpt-00000012.h5");
  };
  EXPECT_EQ(model_of("whole").arrays.at("params/tokens.weight").values,
            model_of("cut").arrays.at("params/tokens.weight").values);

  const Outcome generated = program.run(
      {"generate", "whole", "--prompt", "wörter und", "--tokens", "5", "--temperature", "0"});
  EXPECT_EQ(generated.code, 0) << generated.err;
  EXPECT_EQ(generated.out.substr(0, 11), "wörter und");
  EXPECT_EQ(program.run({"eval", "whole", "--split", "test"}).code, 0);
  ASSERT_EQ(program.run({"export", "whole", "-o", "m.safetensors"}).code, 0);
  EXPECT_NE(read_text(program.directory() / "m.safetensors").find("\"tokenizer\":\""),
            std::string::npos);
  EXPECT_LT(program.run({"ckpt", "show", "whole"}).out.size(), 5000u);
  EXPECT_EQ(program.run({"train", "c.toml", "--run", "new"}).code, 4);
}

TEST_F(TokenizerProgram, another_tokenizer_than_that_of_the_model_is_refused) {
  const Subwords program("other");
  ASSERT_EQ(program.learn().code, 0);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "run"}).code, 0);
  program.remove("x.model");
  ASSERT_EQ(program.learn("x.model", "301").code, 0);
  const Outcome outcome = program.run({"eval", "run"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_NE(outcome.err.find("not the tokenizer"), std::string::npos) << outcome.err;
}

TEST_F(TokenizerProgram, a_prepared_text_trains_as_the_text_itself_and_keeps_its_tokenizer) {
  const Subwords program("prepared");
  ASSERT_EQ(program.learn().code, 0);
  ASSERT_EQ(program.learn("y.model", "301").code, 0);
  const Outcome prepared =
      program.run({"data", "prepare", "t.txt", "-o", "t.h5", "--units", "sentencepiece",
                   "--tokenizer", "x.model", "--fractions", "0.8,0.1,0.1"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "text"}).code, 0);
  std::string config = subword_config;
  for (const char* const line : {"units = \"sentencepiece\"\n", "tokenizer = \"x.model\"\n",
                                 "fractions = [0.8, 0.1, 0.1]\n"})
    config.erase(config.find(line), std::string(line).size());
  program.write("p.toml", config);
  program.remove("x.model");
  ASSERT_EQ(program.run({"train", "p.toml", "--run", "file", "data.path=t.h5"}).code, 0);
  const auto tokens_of = [&](const char* run) {
    return load_checkpoint(program.directory() / run / "checkpoints/ckpt-00000012.h5")
        .arrays.at("params/tokens.weight")
        .values;
  };
  EXPECT_EQ(tokens_of("text"), tokens_of("file"));
  const Outcome other =
      program.run({"train", "p.toml", "--run", "no", "data.path=t.h5", "data.tokenizer=y.model"});
  EXPECT_EQ(other.code, 4);
  EXPECT_NE(other.err.find("was not prepared with"), std::string::npos) << other.err;
  ASSERT_EQ(program
                .run({"data", "prepare", "t.txt", "-o", "y.h5", "--units", "sentencepiece",
                      "--tokenizer", "y.model"})
                .code,
            0);
  EXPECT_EQ(program.run({"eval", "file", "data.path=y.h5"}).code, 4);
}

TEST_F(TokenizerProgram, settings_that_miss_something_are_refused_before_anything_starts) {
  const Subwords program("settings");
  const Outcome missing = program.run({"config", "c.toml", "data.tokenizer="});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("weft data tokenizer"), std::string::npos) << missing.err;
  EXPECT_EQ(program.run({"config", "c.toml", "data.units=bytes"}).code, 2);
  const Outcome absent = program.run({"train", "c.toml"});
  EXPECT_EQ(absent.code, 4);
  EXPECT_NE(absent.err.find("x.model"), std::string::npos) << absent.err;
  program.write("x.model", "no model at all");
  const Outcome damaged = program.run({"train", "c.toml"});
  EXPECT_EQ(damaged.code, 4);
  EXPECT_NE(damaged.err.find("x.model"), std::string::npos) << damaged.err;
  EXPECT_EQ(
      program.run({"data", "prepare", "t.txt", "-o", "t.h5", "--units", "sentencepiece"}).code, 2);
}

TEST_F(TokenizerProgram, classifies_and_predicts_without_the_data_and_the_tokenizer) {
  const Subwords program("classify");
  ASSERT_EQ(program.learn().code, 0);
  std::string lines;
  for (int i = 0; i < 60; ++i)
    lines += i % 2 ? "warm\tweater wörter " + std::to_string(i) + "\n"
                   : "cold\tthread looms " + std::to_string(i) + "\n";
  program.write("t.tsv", lines);
  program.write("l.toml",
                "[data]\nkind = \"labelled\"\npath = \"t.tsv\"\nlength = 12\nunits = "
                "\"sentencepiece\"\ntokenizer = \"x.model\"\n[model]\ntask = "
                "\"classify\"\ncausal = false\nlayers = 1\nwidth = 8\nheads = 2\n[train]\nsteps = "
                "8\nbatch = 2\neval_every = 4\n");
  const Outcome trained = program.run({"train", "l.toml", "--run", "run"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  program.write("new.txt", "thread wörter\n");
  const Outcome before = program.run({"predict", "run", "new.txt"});
  ASSERT_EQ(before.code, 0) << before.err;
  program.remove("x.model");
  program.remove("t.tsv");
  const Outcome after = program.run({"predict", "run", "new.txt"});
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(after.out, before.out);
}

}  // namespace
}  // namespace weft::experiments::tokenizer_program_test
