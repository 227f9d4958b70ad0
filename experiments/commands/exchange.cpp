#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/parallel.h"
#include "experiments/checkpoint/store.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/output_file.h"
#include "experiments/commands/saved_model.h"
#include "experiments/console/command_line.h"
#include "experiments/run/run_directory.h"
#include "experiments/train/model_exchange.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

void print_differences(std::ostream& out, const std::vector<std::string>& differences) {
  for (const std::string& difference : differences) out << "  " << difference << '\n';
}

/// All files of a run, which no output may replace.
std::vector<std::string> files_of_run(const fs::path& directory) {
  std::vector<std::string> files;
  for (const auto& item : fs::recursive_directory_iterator(find_run(directory).directory))
    files.push_back(item.path().string());
  return files;
}

/// A run that has not trained yet, at step 0 with the imported model.
void begin_run(Trainer& trainer, const fs::path& path, RunStart start, const std::string& command) {
  RunDirectory directory = RunDirectory::open(path, start, command);
  core::write_durably(directory.files().config(), trainer.config().toml(), core::Fault::checkpoint);
  const TrainSettings& train = trainer.config().train;
  CheckpointStore store(directory.files().checkpoints(), train.keep_last, train.keep_best);
  Snapshot snapshot = trainer.snapshot();
  snapshot.facts["train/without_best"] = std::int64_t(0);
  store.save(snapshot);
  write_status(directory.files(),
               {.state = "stopped", .reason = "imported", .saved = snapshot.step});
}

}  // namespace

int export_command(const Arguments& arguments) {
  CommandLine line("weft export RUN -o FILE.safetensors",
                   "Writes a run's model as safetensors, with its config.");
  line.words(1, 1, "RUN");
  add_checkpoint_option(line);
  line.option("output,o", "FILE", "where to write")
      .flag("force", "replace an existing file, unless it belongs to the run");
  if (!line.parse(arguments)) return 0;
  const fs::path path = line.text("output");
  check_output(path, files_of_run(line.words()[0]), line.has("force"));
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  export_model(checkpoint, path);
  std::cout << SafetensorsFile(path).arrays().size() << " arrays of step " << checkpoint.step
            << ", " << fs::file_size(path) << " bytes: " << path.string() << '\n';
  return 0;
}

int import_command(const Arguments& arguments) {
  CommandLine line("weft import FILE.safetensors --into CONFIG [section.key=value ...]",
                   "Starts a run with a model from a safetensors file; weft train RUN --resume "
                   "continues to train it. Names and shapes must match one to one.");
  line.words(1, 1000, "FILE")
      .option("into", "CONFIG", "the config of the model")
      .option("run", "DIR", "the run directory (runs/NAME-HASH-imported)")
      .flag("fresh", "delete an existing run")
      .flag("partial", "take what matches and initialise the rest as in a new model")
      .option("rename", "MAP", "a file with lines OLD_NAME NEW_NAME");
  if (!line.parse(arguments)) return 0;
  const SafetensorsFile file(line.words()[0]);
  const RunConfig config = RunConfig::load(line.text("into"), line.overrides());
  core::set_threads(config.threads);
  Trainer trainer(config);
  const auto renamed = line.has("rename") ? read_rename_map(line.text("rename"))
                                          : std::map<std::string, std::string>();
  const ImportReport report = import_model(trainer, file, renamed, line.has("partial"));
  const std::string summary = core::message_of("import: ", report.matched, " match, ",
                                               report.differences.size(), " differ");
  if (!report.differences.empty() && !line.has("partial")) {
    std::cerr << summary << '\n';
    print_differences(std::cerr, report.differences);
    throw core::Error(core::Fault::checkpoint,
                      "nothing was imported; --partial takes what matches, --rename MAP gives "
                      "arrays other names");
  }
  const fs::path stem = fs::path(line.text("into")).stem();
  fs::path directory = line.has("run") ? fs::path(line.text("run"))
                                       : run_path("runs", stem.string(), config.identity());
  if (!line.has("run")) directory += "-imported";
  begin_run(trainer, directory, line.has("fresh") ? RunStart::fresh : RunStart::anew,
            "weft import " + line.words()[0] + " --into " + line.text("into"));
  std::cout << summary << '\n';
  print_differences(std::cout, report.differences);
  std::cout << "train it with: weft train " << directory.string() << " --resume\n";
  return 0;
}

}  // namespace weft::experiments
