// A model that another program wrote in the layout of GPT-2 (tests/experiments/gpt2).
#include <nlohmann/json.hpp>

#include "experiments/checkpoint/store.h"
#include "experiments/run/run_files.h"
#include "experiments/train/loaded_model.h"
#include "layers/model/language_model.h"
#include "tests/experiments/program.h"
#include "tests/places.h"

namespace weft::experiments {
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

TEST(Row13, a_file_of_gpt2_gives_the_logits_of_its_maker) {
  const std::string folder = source_dir() + "/tests/experiments/gpt2/";
  const Program program("gpt2");
  program.write("c.toml", gpt2);
  program.write("text.txt", "abcdefghijk abcdefghij");  // 12 characters
  const std::vector<std::string> words = {
      "import", folder + "model.safetensors", "--layout", "gpt2", "--into", "c.toml", "--run", "r"};
  const Outcome other = program.run(words);
  EXPECT_EQ(other.code, 5);
  EXPECT_NE(other.err.find("tokens.weight: [12, 8] in the model, [11, 8] in the file"),
            std::string::npos)
      << other.err;
  program.write("text.txt", "abcdefghijkabcdefghij");
  const Outcome imported = program.run(words);
  ASSERT_EQ(imported.code, 0) << imported.out << imported.err;
  EXPECT_NE(imported.out.find("28 match, 0 differ"), std::string::npos) << imported.out;

  std::vector<std::string> warnings;
  const RunFiles files{program.directory() / "r"};
  const Checkpoint checkpoint = CheckpointStore(files.checkpoints(), 1, 1).load_last(warnings);
  const RunConfig config = RunConfig::from_text(checkpoint.config_toml, "r");
  const LoadedModel loaded(config, checkpoint, {.vocabulary = 11, .length = 8});
  const auto expected = nlohmann::json::parse(read_text(folder + "logits.json"));
  const std::vector<core::Token> tokens = expected["tokens"];
  const auto& model = layers::as_language_model(*loaded.model, "the test");
  const core::Tensor logits =
      model.logits(model.hidden(autograd::Pass(), core::Tokens({1, 8}, tokens)).value());
  for (std::size_t t = 0; t < tokens.size(); ++t)
    for (std::size_t v = 0; v < 11; ++v)
      EXPECT_NEAR(logits.read()[t * 11 + v], double(expected["logits"][t][v]), 2e-5)
          << t << ", " << v;
}

}  // namespace
}  // namespace weft::experiments
