#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/available_memory.h"
#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/parallel.h"
#include "core/ranks/collectives.h"
#include "experiments/checkpoint/saved_spelling.h"
#include "experiments/checkpoint/store.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/forecast/memory_budget.h"
#include "experiments/forecast/run_forecast.h"
#include "experiments/train/follower.h"
#include "experiments/train/rank_check.h"
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
  bool is_the_run = false;  ///< the directory is the one that was given
};

/// The settings of --smoke, unless the command line has others: a few steps with everything that
/// happens in a run.
const std::vector<std::string>& smoke_settings() {
  static const std::vector<std::string> settings = {
      "train.steps=8", "train.eval_every=4", "train.eval_batches=2", "train.checkpoint_every=4"};
  return settings;
}

bool sets_budget(const std::string& word) {
  return word.starts_with("train.tokens=") || word.starts_with("train.flops=") ||
         word.starts_with("train.minutes=");
}

std::vector<std::string> settings_of(const CommandLine& line) {
  std::vector<std::string> settings;
  if (line.has("smoke")) settings = smoke_settings();
  const std::vector<std::string> given = line.overrides();
  if (std::ranges::any_of(given, sets_budget)) std::erase(settings, smoke_settings()[0]);
  settings.insert(settings.end(), given.begin(), given.end());
  return settings;
}

Source read_source(const CommandLine& line) {
  const fs::path given = line.words()[0];
  const bool is_run = fs::is_directory(given);
  const fs::path file = is_run ? find_run(given).config() : given;
  const std::vector<std::string> settings = settings_of(line);
  // What a run keeps may be of an earlier weft, under whose names the settings are then read.
  Source source{is_run ? RunConfig::from_text(core::read_text_file(file), file.string(), settings)
                       : RunConfig::load(file.string(), settings),
                {}};
  const std::string name =
      is_run ? fs::absolute(given / ".").lexically_normal().parent_path().filename().string()
             : given.stem().string();
  if (line.has("run"))
    source.directory = line.text("run");
  else if (line.has("smoke"))
    source.directory = fs::path("runs") / (name + "-smoke");
  else if (is_run)
    source.directory = given;
  else
    source.directory = run_path("runs", name, source.config.identity());
  source.is_the_run = is_run && source.directory == given;
  return source;
}

/// A run directory is meant to be continued; a smoke test begins anew each time.
RunStart start_of(const CommandLine& line, const Source& source) {
  if (line.has("fresh") || line.has("smoke")) return RunStart::fresh;
  const bool goes_on = line.has("continue") && holds_run(source.directory);
  return line.has("resume") || source.is_the_run || goes_on ? RunStart::resume : RunStart::anew;
}

bool parse(CommandLine& line, const Arguments& arguments) {
  if (!line.parse(arguments)) return false;
  core::require(line.has("resume") + line.has("continue") + line.has("fresh") <= 1,
                "--resume, --continue and --fresh exclude each other");
  core::require(!((line.has("resume") || line.has("continue")) && line.has("smoke")),
                "--smoke begins a run of its own: leave out --resume and --continue");
  return true;
}

RunOptions options_of(const CommandLine& line, const Source& source) {
  core::require(source.config.model.causal || source.config.model.task != layers::Task::language ||
                    source.config.data.traits().masks,
                "model.causal = false: a model that reads the next token cannot be trained to "
                "predict it; weft bench step takes it, and data.masking gives it hidden tokens to "
                "fill in");
  const RunStart start = start_of(line, source);
  const std::string given = line.has("init-from") ? line.text("init-from") : "";
  core::require(
      start != RunStart::resume || given.empty() || line.has("continue"),
      "--init-from starts a run, but this one is continued with its own model: name a new "
      "one with --run DIR");
  RunOptions options{start, source_of_start(source.directory, start, given), "weft train",
                     line.has("smoke")};
  for (const std::string& word : line.words()) options.command += " " + word;
  if (line.has("run")) options.command += " --run " + line.text("run");
  return options;
}

/// The tokenizer of a run that is continued, as its checkpoints have it; empty where there is none.
std::string kept_tokenizer(const Source& source, RunStart start) {
  const auto values = source.config.resolved.values();
  const auto units = values.find("data.units");
  if (start != RunStart::resume || units == values.end() || units->second != "\"sentencepiece\"")
    return "";
  CheckpointStore store(RunFiles{source.directory}.checkpoints(), 1, 1);
  if (store.empty()) return "";
  std::vector<std::string> said_again_when_it_resumes;
  const auto spelling = saved_spelling(store.load_last(said_again_when_it_resumes));
  return spelling && spelling->tokenizer() ? spelling->tokenizer()->file() : "";
}

data::Meaning meaning_by(const std::string& tokenizer) {
  if (tokenizer.empty()) return {};
  return {.spelling = data::Spelling(
              data::Tokenizer(data::PieceTable(tokenizer, "the tokenizer of this run")))};
}

/// The other ranks get what the first one has read: only its machine needs the files.
void share(core::Ranks& ranks, RunConfig& config, RunOptions& options, std::string& tokenizer) {
  if (ranks.alone()) return;
  tokenizer = core::broadcast(ranks, tokenizer);
  const std::string text = core::broadcast(ranks, ranks.is_first() ? config.toml() : "");
  options.init_from = core::broadcast(ranks, options.init_from);
  if (!ranks.is_first()) config = RunConfig::from_text(text, "the config of rank 0");
}

}  // namespace

int train_command(const Arguments& arguments) {
  CommandLine line("weft train CONFIG [section.key=value ...]",
                   "Trains what CONFIG describes, in its own run directory. CONFIG may also be "
                   "a run directory, to continue it. A budget given here (train.steps, tokens, "
                   "flops or minutes) replaces that of the file. Ctrl-C saves and stops.");
  line.words(1, 1000, "CONFIG")
      .option("run", "DIR", "the run directory (runs/NAME-HASH)")
      .flag("resume", "continue the run from its last checkpoint")
      .flag("continue", "continue the run if there is one, else start it: for jobs that restart")
      .flag("fresh", "delete the existing run and start again")
      .option("init-from", "RUN", "start from the model of another run")
      .flag("smoke",
            "a test run in runs/NAME-smoke: 8 steps, with validations, checkpoints and a sample")
      .flag("force", "start even if the run cannot fit into free memory");
  core::Ranks& ranks = core::ranks();
  bool asks_to_run = true;
  core::together(ranks, [&] { asks_to_run = parse(line, arguments); });
  if (!asks_to_run) return 0;
  Source source;
  RunOptions options;
  std::string tokenizer;
  core::together(ranks, [&] {
    if (!ranks.is_first()) return;
    source = read_source(line);
    options = options_of(line, source);
    tokenizer = kept_tokenizer(source, options.start);
  });
  share(ranks, source.config, options, tokenizer);
  // The data is read before the directory is made: a missing file leaves no empty run.
  std::unique_ptr<data::Dataset> dataset;
  core::together(ranks, [&] {
    dataset = make_dataset(source.config, meaning_by(tokenizer));
    fit_memory(source.config);
    // Whether chunks of a sequence fit cannot be tried with all of it, which may not.
    const bool in_parts = source.config.train.chunks > 1 && !ranks.alone();
    if (!line.has("force") && ranks.is_first() && !in_parts)
      require_fit(source.config, core::available_memory());
  });
  core::set_threads(threads_of_rank(ranks, source.config.threads));
  require_equal_ranks(ranks, source.config, *dataset);
  std::vector<std::string> warnings;
  if (const std::string text = warn_of_binding(ranks, source.config.threads); !text.empty())
    warnings.push_back(text);
  auto trainer =
      prepare_start(source.config, std::move(dataset), options.init_from, warnings, ranks);
  std::unique_ptr<const RunDirectory> directory;
  core::together(ranks, [&] {
    if (!ranks.is_first()) return;
    for (const std::string& remark : source.config.remarks) std::cout << remark << '\n';
    if (const std::string text = describe_memory(source.config); !text.empty())
      std::cout << text << '\n';
    for (const std::string& warning : warnings) std::cout << "warning: " << warning << '\n';
    directory.reset(new RunDirectory(
        RunDirectory::open(source.directory, options.start, options.command, options.init_from)));
  });
  if (!ranks.is_first()) return follow_training(*trainer);
  if (line.has("init-from")) options.command += " --init-from " + line.text("init-from");
  return TrainingRun(std::move(trainer), *directory, options, std::cout).run();
}

}  // namespace weft::experiments
