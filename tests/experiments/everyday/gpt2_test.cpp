// A model that another program wrote in the layout of GPT-2 (tests/experiments/gpt2).
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "experiments/checkpoint/store.h"
#include "experiments/run/run_files.h"
#include "experiments/train/loaded_model.h"
#include "layers/model/language_model.h"
#include "tests/experiments/program.h"
#include "tests/places.h"

namespace weft::experiments::gpt2_test {
namespace {

const char* const gpt2 = R"(
[data]
kind = "text"
path = "text.txt"
units = "characters"
length = 8
[model]
layers = 2
width = 8
heads = 2
[train]
steps = 1
batch = 1
)";

/// The stored one, or one that PyTorch made in its place (tests/gpt2_by_torch.sh).
std::string folder() {
  const char* const other = std::getenv("WEFT_GPT2_FOLDER");
  return other ? std::string(other) + "/" : source_dir() + "/tests/experiments/gpt2/";
}

/// The logits of the run "r" of a program are those of its file's maker.
void expect_logits(const Program& program, const char* name) {
  std::vector<std::string> warnings;
  const RunFiles files{program.directory() / "r"};
  const Checkpoint checkpoint = CheckpointStore(files.checkpoints(), 1, 1).load_last(warnings);
  const RunConfig config = RunConfig::from_text(checkpoint.config_toml, "r");
  const LoadedModel loaded(config, checkpoint, {.vocabulary = 11, .length = 8});
  const auto expected = nlohmann::json::parse(read_text(folder() + "logits.json"));
  const std::vector<core::Token> tokens = expected["tokens"];
  const auto& model = layers::as_language_model(*loaded.model, "the test");
  const core::Tensor logits =
      model.logits(model.hidden(autograd::Pass(), core::Tokens({1, 8}, tokens)).value());
  for (std::size_t t = 0; t < tokens.size(); ++t)
    for (std::size_t v = 0; v < 11; ++v)
      EXPECT_NEAR(logits.read()[t * 11 + v], double(expected[name][t][v]), 2e-5) << t << ", " << v;
}

TEST(Row13, a_file_of_gpt2_gives_the_logits_of_its_maker) {
  const Program program("gpt2");
  program.write("c.toml", gpt2);
  program.write("text.txt", "abcdefghijk abcdefghij");  // 12 characters
  const std::vector<std::string> words = {
      "import", folder() + "model.safetensors", "--layout", "gpt2", "--into", "c.toml", "--run",
      "r"};
  const Outcome other = program.run(words);
  EXPECT_EQ(other.code, 5);
  EXPECT_NE(other.err.find("tokens.weight: [12, 8] in the model, [11, 8] in the file"),
            std::string::npos)
      << other.err;
  program.write("text.txt", "abcdefghijkabcdefghij");
  const Outcome imported = program.run(words);
  ASSERT_EQ(imported.code, 0) << imported.out << imported.err;
  EXPECT_NE(imported.out.find("28 match, 0 differ"), std::string::npos) << imported.out;
  expect_logits(program, "logits");
}

TEST(Row13, a_file_with_the_activation_of_published_gpt2_gives_the_logits_of_its_maker) {
  const Program program("gpt2_tanh");
  program.write("c.toml", gpt2);
  program.write("text.txt", "abcdefghijkabcdefghij");
  program.write("model.safetensors", read_text(folder() + "model.safetensors"));
  program.write("config.json", R"({"activation_function": "gelu_new"})");
  std::vector<std::string> words = {
      "import", "model.safetensors", "--layout", "gpt2", "--into", "c.toml", "--run", "r"};
  const Outcome exact = program.run(words);
  EXPECT_EQ(exact.code, 2);
  EXPECT_NE(exact.err.find("\"gelu_new\": add model.activation=gelu_tanh"), std::string::npos)
      << exact.err;
  words.push_back("model.activation=gelu_tanh");
  for (const char* const config : {R"({"activation_function": "gelu_pytorch_tanh"})", "{}"}) {
    program.write("config.json", config);
    ASSERT_EQ(program.run(words).code, 0);
    expect_logits(program, "logits_gelu_new");
    std::filesystem::remove_all(program.directory() / "r");
  }
  for (const char* const config : {R"({"activation_function": "silu"})", "[1"}) {
    program.write("config.json", config);
    const Outcome refused = program.run(words);
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("config.json"), std::string::npos) << refused.err;
  }
}

}  // namespace
}  // namespace weft::experiments::gpt2_test
