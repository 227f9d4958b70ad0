// Documents that are kept apart by a token: trained on, prepared, generated.
#include "experiments/checkpoint/file.h"
#include "tests/experiments/program.h"

namespace weft::experiments::documents_program_test {
namespace {

const char* const documents_config = R"(
[data]
kind = "text"
path = "t.jsonl"
documents = "lines"
field = "body"
fractions = [0.6, 0.2, 0.2]
length = 16

[model]
layers = 1
width = 8
heads = 2

[train]
steps = 8
batch = 2
eval_every = 4
checkpoint_every = 4
)";

class Documents : public Program {
 public:
  explicit Documents(const std::string& name) : Program("documents_" + name) {
    std::string lines;
    for (int i = 0; i < 40; ++i)
      lines += "{\"id\": " + std::to_string(i) + ", \"body\": \"document number " +
               std::to_string(i * i) + "\"}\n";
    write("t.jsonl", lines);
    write("c.toml", documents_config);
  }
  std::vector<core::Real> trained_tokens(const std::string& run) const {
    return load_checkpoint(directory() / run / "checkpoints/ckpt-00000008.h5")
        .arrays.at("params/tokens.weight")
        .values;
  }
};

TEST(DocumentsProgram, a_prepared_text_of_documents_trains_as_the_text_itself) {
  const Documents program("prepared");
  const Outcome trained = program.run({"train", "c.toml", "--run", "text"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.out.find("40 documents, each the field \"body\" of a line: training 24"),
            std::string::npos)
      << trained.out;
  const Outcome prepared = program.run({"data", "prepare", "t.jsonl", "-o", "t.h5", "--field",
                                        "body", "--boundaries", "--fractions", "0.6,0.2,0.2"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  std::string config = documents_config;
  for (const std::string line :
       {"documents = \"lines\"\n", "field = \"body\"\n", "fractions = [0.6, 0.2, 0.2]\n"})
    config.erase(config.find(line), line.size());
  program.write("p.toml", config);
  ASSERT_EQ(program.run({"train", "p.toml", "data.path=t.h5", "--run", "file"}).code, 0);
  EXPECT_EQ(program.trained_tokens("text"), program.trained_tokens("file"));
  EXPECT_EQ(program.run({"eval", "text", "--json"}).out,
            program.run({"eval", "file", "--json"}).out);
}

TEST(DocumentsProgram, a_run_resumes_exactly) {
  const Documents program("resume");
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "whole"}).code, 0);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "cut", "train.steps=4"}).code, 0);
  ASSERT_EQ(program.run({"train", "cut", "--resume", "train.steps=8"}).code, 0);
  EXPECT_EQ(program.trained_tokens("whole"), program.trained_tokens("cut"));
}

TEST(DocumentsProgram, generating_without_a_prompt_begins_a_document) {
  const Documents program("generate");
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "run"}).code, 0);
  std::filesystem::remove(program.directory() / "t.jsonl");
  const Outcome begun = program.run({"generate", "run", "--tokens", "5"});
  EXPECT_EQ(begun.code, 0) << begun.err;
  EXPECT_GE(begun.out.size(), 5u);
  EXPECT_EQ(program.run({"generate", "run", "--prompt", "doc", "--tokens", "5"}).code, 0);
}

TEST(DocumentsProgram, settings_that_do_not_go_together_are_refused) {
  const Documents program("settings");
  EXPECT_EQ(program.run({"config", "c.toml", "data.fractions=[0.5,0.1,0.1]"}).code, 2);
  EXPECT_EQ(program.run({"config", "c.toml", "data.documents=files"}).code, 2);
  const Outcome few = program.run({"train", "c.toml", "data.documents=files", "data.field="});
  EXPECT_EQ(few.code, 2);
  const Outcome bare = program.run({"data", "prepare", "t.jsonl", "-o", "t.h5", "--boundaries"});
  EXPECT_EQ(bare.code, 2);
  EXPECT_NE(bare.err.find("--documents"), std::string::npos) << bare.err;
}

}  // namespace
}  // namespace weft::experiments::documents_program_test
