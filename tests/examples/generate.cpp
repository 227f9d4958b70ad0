// Loads the last checkpoint of a run and continues a prompt:  generate RUN PROMPT
#include <weft/weft.h>

#include <cstdio>

int main(int argc, char** argv) try {
  using namespace weft;
  core::require(argc == 3, "usage: generate RUN PROMPT");

  std::vector<std::string> warnings;  // of damaged checkpoints that were passed over
  experiments::CheckpointStore store(experiments::find_run(argv[1]).checkpoints(), 1, 1);
  const experiments::Checkpoint checkpoint = store.load_last(warnings);
  const auto config = experiments::RunConfig::from_text(checkpoint.config_toml, argv[1]);
  const experiments::LoadedModel loaded(config, checkpoint);

  const auto& model = layers::as_language_model(*loaded.model, "generate");
  const auto prompt = loaded.dataset->encode(argv[2]);
  const auto generated = experiments::generate(model, prompt, {.tokens = 32, .temperature = 0.5});
  std::printf("%s%s\n", argv[2], loaded.dataset->decode(generated.tokens).c_str());
  return 0;
} catch (const weft::core::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
