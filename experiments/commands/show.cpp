#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "experiments/commands/chart_files.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/saved_model.h"
#include "experiments/config/variations.h"
#include "experiments/console/columns.h"
#include "experiments/draw/picture_file.h"
#include "experiments/run/run_files.h"
#include "experiments/show/show_page.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

void check_outputs(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string ending = fs::path(name).extension().string();
    core::require(ending == ".html" || (!ending.empty() && is_picture_ending(ending.substr(1))),
                  "-o ", name, ": what a model reads is shown as .html, .svg, .pdf or .png");
  }
}

/// The checkpoint's model, whose mechanisms report what they read to the collector.
TextModel observed_model(const CommandLine& line, const Checkpoint& checkpoint,
                         ReadingCollector& collector) {
  RunConfig config = config_of(checkpoint, line.overrides());
  core::require(!config.model.is_star(),
                "show: a star has a ring and a relay and no attention that could be shown");
  config.attention = layers::observed_plans(
      config.attention, [&](const layers::Observation& seen) { collector.add(seen); });
  return line.has("text") ? load_text_model(config, checkpoint)
                          : load_model_and_data(config, checkpoint);
}

ShownRun read_and_collect(const CommandLine& line) {
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  ReadingCollector collector;
  const TextModel model = observed_model(line, checkpoint, collector);
  const core::Index most = std::min(line.integer("tokens"), model.saved.config.data.length);
  core::require(most >= 1, "--tokens 0 leaves nothing to read");
  const fs::path directory =
      fs::absolute(find_run(line.words()[0]).directory / "").lexically_normal();
  ShownRun run{.name = directory.parent_path().filename().string(),
               .step = checkpoint.step,
               .sequence = line.has("text")
                               ? text_sequence(model, line.text("text"), line.text("mask"), most)
                               : validation_sequence(model, line.integer("sample"), most),
               .layers = {}};
  if (line.has("query")) run.query = std::max<core::Index>(1, line.integer("query")) - 1;
  collector.clear();
  model.saved.model->score(autograd::Pass(core::Rng(0).fold("evaluation")), {run.sequence.batch});
  run.layers = collector.layers(run.sequence, model.saved.config.model.is_seq2seq());
  return run;
}

}  // namespace

int show_command(const Arguments& arguments) {
  CommandLine line(
      "weft show RUN [--text TEXT] [-o page.html] [section.key=value ...]",
      "Shows which keys each head of a run's model reads and how strongly, layer by layer: as a "
      "table and drawn with characters, or as a page or a picture with -o. It works for every "
      "attention: the weights come "
      "from the mechanism itself. Buckets and clusters have colours, spans are lines. What is read "
      "is a text, or else a sequence of the validation data.");
  line.words(1, 1000, "RUN");
  add_checkpoint_option(line);
  line.option("text", "TEXT", "what to read: a text, or the source of a target")
      .option("sample", "N", "which sequence of the validation data, counted from 0", "0")
      .option("tokens", "N", "how many tokens to read at most", "512")
      .option("query", "N", "list the keys that token N reads, counted from 1; else the last one")
      .option("mask", "MARK", "what marks a blank, for models that fill them in", "[MASK]")
      .option("output,o", "FILES", "comma-separated: page.html, or heads.svg, .pdf or .png");
  if (!line.parse(arguments)) return 0;
  const auto outputs = split_at_commas(line.has("output") ? line.text("output") : "");
  check_outputs(outputs);
  const ShownRun run = read_and_collect(line);
  Table table = reading_table(run);
  table.rows.insert(table.rows.begin(), table.header);
  std::cout << format_columns(table.rows, 40);
  if (outputs.empty()) std::cout << reading_text(run);
  for (const std::string& name : outputs) {
    const std::string ending = fs::path(name).extension().string().substr(1);
    write_output_file(
        name, ending == "html" ? show_page(run) : convert_picture(show_picture(run), ending));
  }
  return 0;
}

}  // namespace weft::experiments
