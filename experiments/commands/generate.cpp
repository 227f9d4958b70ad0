#include <iostream>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/image_generation.h"
#include "experiments/commands/saved_model.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {

int generate_command(const Arguments& arguments) {
  CommandLine line("weft generate RUN --prompt TEXT | --image N [section.key=value ...]",
                   "Continues a text with a run's model, one token at a time with a cache; a "
                   "sequence-to-sequence model generates the target for this source, and a model "
                   "of images completes one and writes a PNG. The same seed gives the same "
                   "result.");
  line.words(1, 1000, "RUN");
  add_checkpoint_option(line);
  line.option("prompt", "TEXT", "what to continue, or the source")
      .option("tokens", "N", "how many tokens to generate", "200")
      .option("temperature", "X", "divides the logits; 0: always the most likely token", "0.8")
      .option("top-k", "K", "sample from the K most likely tokens; 0: from all", "0")
      .option("seed", "N", "the seed for sampling", "1");
  add_image_options(line);
  if (!line.parse(arguments)) return 0;
  const TextModel loaded = load_text_model(line);
  const LoadedModel& saved = loaded.saved;
  const auto boundary = saved.dataset ? saved.dataset->boundary() : std::nullopt;
  if (!boundary) layers::as_language_model(*saved.model, "generate");
  core::require(saved.config.model.causal,
                "generate: a model that reads both ways (model.causal = false) writes no text");
  const GenerationOptions options{.tokens = line.integer("tokens"),
                                  .temperature = line.number("temperature"),
                                  .top_k = line.integer("top-k"),
                                  .seed = std::uint64_t(line.integer("seed"))};
  core::require(options.temperature >= 0, "--temperature ", options.temperature, " is below 0");
  if (loaded.image) return generate_images(line, loaded, options);
  const std::string& prompt = line.text("prompt");
  const auto tokens = loaded.encode(prompt);
  if (!boundary) std::cout << prompt << std::flush;
  const auto show = [&](core::Token token) {
    std::cout << loaded.decode(std::span(&token, 1)) << std::flush;
  };
  const Generation generated = answer(*saved.model, boundary, tokens, options, show);
  std::cout << '\n';
  if (generated.positions_ended)
    std::cerr << "stopped after " << generated.tokens.size()
              << " tokens, where learned positions end; "
              << "train with a larger data.length, or with rotary or sinusoidal positions\n";
  return 0;
}

}  // namespace weft::experiments
