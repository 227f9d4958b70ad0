#include <algorithm>
#include <iostream>

#include "core/error.h"
#include "data/files/text_file.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/image_generation.h"
#include "experiments/commands/saved_model.h"
#include "experiments/console/number_text.h"
#include "experiments/evaluate/beam_search.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {
namespace {

constexpr const char* longer_positions =
    "train with a larger data.length, or with rotary or sinusoidal positions\n";

std::string prompt_of(const CommandLine& line) {
  if (!line.has("prompt-file")) return line.text("prompt");
  core::require(!line.has("prompt"), "--prompt and --prompt-file exclude each other");
  std::string prompt = data::read_text_file(line.text("prompt-file")).bytes;
  if (prompt.ends_with('\n')) prompt.pop_back();
  return prompt;
}

/// A source that learned positions cannot reach to the end of is refused.
void check_source(const layers::Model& model, const std::vector<core::Token>& source) {
  const auto longest = layers::as_seq2seq_model(model, "generate").longest_source();
  core::require(!longest || Index(source.size()) <= *longest, "the source has ", source.size(),
                " tokens, but learned positions end at ", longest.value_or(0),
                ": give a shorter one, or train with rotary or sinusoidal positions");
}

/// One target a line, the best first, with its score.
void show_beams(const layers::Seq2SeqModel& model, const std::vector<core::Token>& source,
                core::Token boundary, const BeamOptions& options,
                const std::function<std::string(std::span<const core::Token>)>& decode) {
  for (const BeamTarget& target : beam_search(model, source, boundary, options))
    std::cout << format_fixed(target.score, 4) << "  " << decode(target.tokens)
              << (target.ended ? "" : " ...") << '\n';
}

/// One text, token by token as it comes.
void show_text(const TextModel& loaded, const std::string& prompt,
               const std::vector<core::Token>& tokens, const GenerationOptions& options) {
  const auto boundary = loaded.form.boundary;
  if (!boundary) std::cout << prompt << std::flush;
  const auto show = [&](core::Token token) {
    std::cout << loaded.decode(std::span(&token, 1)) << std::flush;
  };
  const Generation generated = answer(*loaded.saved.model, boundary, tokens, options, show);
  std::cout << '\n';
  if (generated.positions_ended)
    std::cerr << "stopped after " << generated.tokens.size()
              << " tokens, where learned positions end; " << longer_positions;
}

/// Several texts from one prompt, decoded together, each below the seed that gives it alone.
void show_samples(const TextModel& loaded, const std::string& prompt,
                  const std::vector<GenerationTask>& tasks) {
  const auto boundary = loaded.form.boundary;
  const std::vector<Generation> all = answer(*loaded.saved.model, boundary, tasks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::cout << "--- seed " << tasks[i].options.seed << " ---\n" << (boundary ? "" : prompt);
    for (const core::Token token : all[i].tokens) std::cout << loaded.decode(std::span(&token, 1));
    std::cout << '\n';
  }
  if (std::ranges::any_of(all, &Generation::positions_ended))
    std::cerr << "stopped where learned positions end; " << longer_positions;
}

}  // namespace

int generate_command(const Arguments& arguments) {
  CommandLine line("weft generate RUN --prompt TEXT | --image N [section.key=value ...]",
                   "Continues a text with a run's model, one token at a time with a cache; a "
                   "sequence-to-sequence model generates the target for this source, and a model "
                   "of images completes one and writes a PNG. The same seed gives the same "
                   "result.");
  line.words(1, 1000, "RUN");
  add_checkpoint_option(line);
  line.option("prompt", "TEXT",
              "what to continue, or the source; a model of documents begins one without it")
      .option("tokens", "N", "how many tokens to generate", "200")
      .option("temperature", "X", "divides the logits; 0: always the most likely token", "0.8")
      .option("top-k", "K", "sample from the K most likely tokens; 0: from all", "0")
      .option("seed", "N", "the seed for sampling", "1")
      .option("count", "N",
              "how many to generate, together: with seeds --seed, --seed + 1, ...; of images "
              "--image, --image + 1, ..., or as many whole ones",
              "1")
      .option("prompt-file", "FILE", "read the prompt or source from a file")
      .option("beams", "N",
              "sequence to sequence: follow the N most probable targets (beam search) instead of "
              "sampling; 0: sample",
              "0")
      .option("length-penalty", "X",
              "beam search: targets of n tokens compete by ln p / ((5 + n) / 6)^X", "0.8");
  add_image_options(line);
  if (!line.parse(arguments)) return 0;
  const TextModel loaded = load_text_model(line);
  const LoadedModel& saved = loaded.saved;
  const auto boundary = loaded.form.boundary;
  if (!boundary) layers::as_language_model(*saved.model, "generate");
  core::require(saved.config.model.causal,
                "generate: a bidirectional model (model.causal = false) cannot generate text");
  const GenerationOptions options{.tokens = line.integer("tokens"),
                                  .temperature = line.number("temperature"),
                                  .top_k = line.integer("top-k"),
                                  .seed = std::uint64_t(line.integer("seed"))};
  core::require(options.temperature >= 0, "--temperature ", options.temperature, " is below 0");
  const Index count = line.integer("count");
  core::require(count >= 1, "--count ", count, " is below 1");
  if (loaded.image) return generate_images(line, loaded, count, options);
  const bool begins_document =
      loaded.form.document_end && !line.has("prompt") && !line.has("prompt-file");
  const std::string prompt = begins_document ? "" : prompt_of(line);
  auto tokens = loaded.encode(prompt);
  if (tokens.empty() && loaded.form.document_end) tokens = {*loaded.form.document_end};
  if (boundary) check_source(*saved.model, tokens);
  if (line.integer("beams") > 0) {
    core::require(count == 1, "--beams and --count exclude each other: --beams ",
                  line.integer("beams"), " already prints as many targets");
    core::require(boundary.has_value(),
                  "--beams needs a model that generates from a source, model.task = \"seq2seq\"");
    show_beams(layers::as_seq2seq_model(*saved.model, "generate"), tokens, *boundary,
               {.beams = line.integer("beams"),
                .tokens = options.tokens,
                .length_penalty = line.number("length-penalty")},
               loaded.decode);
    return 0;
  }
  if (count > 1) {
    show_samples(loaded, prompt, samples_of(tokens, options, count));
    return 0;
  }
  show_text(loaded, prompt, tokens, options);
  return 0;
}

}  // namespace weft::experiments
