#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/parallel.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/train/run_forecast.h"
#include "experiments/train/run_model.h"
#include "experiments/train/run_start.h"
#include "experiments/train/training_run.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

/// CONFIG may be a run's own directory: the config kept there is then meant.
struct Source {
  RunConfig config;
  fs::path directory;
};

Source read_source(const CommandLine& line) {
  const fs::path given = line.words()[0];
  const bool is_run = fs::is_directory(given);
  const fs::path file = is_run ? find_run(given).config() : given;
  // What a run keeps may be of an earlier weft, under whose names the settings are then read.
  Source source{
      is_run ? RunConfig::from_text(core::read_text_file(file), file.string(), line.overrides())
             : RunConfig::load(file.string(), line.overrides()),
      {}};
  if (line.has("run"))
    source.directory = line.text("run");
  else if (is_run)
    source.directory = given;
  else
    source.directory = run_path("runs", given.stem().string(), source.config.identity());
  return source;
}

}  // namespace

int train_command(const Arguments& arguments) {
  CommandLine line("weft train CONFIG [section.key=value ...]",
                   "Trains what CONFIG describes, in its own run directory. CONFIG may also be "
                   "a run directory, to continue it. Ctrl-C saves and stops.");
  line.words(1, 1000, "CONFIG")
      .option("run", "DIR", "the run directory (runs/NAME-HASH)")
      .flag("resume", "continue the run from its last checkpoint")
      .flag("fresh", "delete the existing run and start again")
      .option("init-from", "RUN", "start from the model of another run")
      .flag("force", "start even if the run cannot fit into free memory");
  if (!line.parse(arguments)) return 0;
  core::require(!(line.has("resume") && line.has("fresh")),
                "--resume and --fresh exclude each other");

  const Source source = read_source(line);
  core::require(source.config.model.causal || source.config.model.task != layers::Task::language ||
                    source.config.data.traits().masks,
                "model.causal = false: a model that reads the next token cannot be trained to "
                "predict it; weft bench step takes it, and data.masking gives it hidden tokens to "
                "fill in");
  core::set_threads(source.config.threads);
  const RunStart start = line.has("resume")  ? RunStart::resume
                         : line.has("fresh") ? RunStart::fresh
                                             : RunStart::anew;
  const std::string given = line.has("init-from") ? line.text("init-from") : "";
  core::require(start != RunStart::resume || given.empty(),
                "--init-from starts a run, --resume continues one with its own model: leave one "
                "of them out");
  RunOptions options{start, source_of_start(source.directory, start, given), "weft train"};
  for (const std::string& word : line.words()) options.command += " " + word;
  if (line.has("run")) options.command += " --run " + line.text("run");
  // The data is read before the directory is made: a missing file leaves no empty run.
  auto dataset = make_dataset(source.config);
  if (!line.has("force")) require_fit(source.config, available_bytes());
  std::vector<std::string> warnings;
  auto trainer = prepare_start(source.config, std::move(dataset), options.init_from, warnings);
  for (const std::string& warning : warnings) std::cout << "warning: " << warning << '\n';
  const RunDirectory directory =
      RunDirectory::open(source.directory, start, options.command, options.init_from);
  if (!given.empty()) options.command += " --init-from " + given;
  return TrainingRun(std::move(trainer), directory, options, std::cout).run();
}

}  // namespace weft::experiments
