#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/parallel.h"
#include "experiments/checkpoint/store.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/saved_model.h"
#include "experiments/console/command_line.h"
#include "experiments/console/output_file.h"
#include "experiments/exchange/gpt2_layout.h"
#include "experiments/exchange/model_card.h"
#include "experiments/exchange/model_facts.h"
#include "experiments/exchange/numpy_reader.h"
#include "experiments/run/run_directory.h"

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

/// Refuses a model that is not GPT-2's, with all that differs.
void require_gpt2(const RunConfig& config) {
  const std::vector<std::string> differences = beyond_gpt2(config);
  if (differences.empty()) return;
  std::string text = "--layout gpt2: this model is not that of GPT-2:";
  for (const std::string& difference : differences) text += "\n  " + difference;
  throw core::Error(text);
}

/// The value of --layout: false for weft's own names.
bool asks_for_gpt2(const CommandLine& line) {
  const std::string& layout = line.text("layout");
  core::require(layout == "weft" || layout == "gpt2", "--layout ", layout,
                " is neither weft nor gpt2");
  return layout == "gpt2";
}

/// The config.json next to a GPT-2 file says with which activation it was trained.
void check_activation(const fs::path& file, layers::Activation activation) {
  const fs::path beside = file.parent_path() / "config.json";
  if (!fs::is_regular_file(beside)) {
    std::cerr << "note: there is no config.json next to the file; the model is taken to have "
                 "model.activation = \""
              << layers::activation_name(activation)
              << "\" (GPT-2 as published has \"gelu_tanh\")\n";
    return;
  }
  const layers::Activation trained =
      activation_of_gpt2(core::read_text_file(beside), beside.string());
  core::require(trained == activation, beside.string(), ": activation_function is \"",
                gpt2_activation(trained),
                "\": add model.activation=", layers::activation_name(trained));
}

/// "model.safetensors" -> "model.md"
fs::path with_ending(fs::path path, const char* ending) { return path.replace_extension(ending); }

}  // namespace

int export_command(const Arguments& arguments) {
  CommandLine line(
      "weft export RUN -o FILE.safetensors|FILE.npz",
      "Writes a run's model with its config, class names and spelling; a card, FILE.md, that "
      "explains its numbers; and for a dense model FILE.py, which computes its logits with numpy.");
  line.words(1, 1, "RUN");
  add_checkpoint_option(line);
  line.option("output,o", "FILE", "where to write; the ending chooses the format")
      .option("layout", "NAME", "gpt2: names and shapes of Hugging Face's GPT-2, with config.json",
              "weft")
      .flag("force", "replace existing files, unless they belong to the run");
  if (!line.parse(arguments)) return 0;
  const fs::path path = line.text("output");
  check_ending(path);
  const bool gpt2 = asks_for_gpt2(line);
  const auto own = files_of_run(line.words()[0]);
  std::vector<fs::path> outputs = {path, with_ending(path, ".md")};
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  const RunConfig config = config_of(checkpoint, {});
  const bool readable = !gpt2 && beyond_dense(config).empty();
  if (readable) outputs.push_back(with_ending(path, ".py"));
  if (gpt2) {
    require_gpt2(config);
    outputs.push_back(path.parent_path() / "config.json");
  }
  for (const fs::path& output : outputs) check_output(output, own, line.has("force"));
  const ExportedModel model = exported_model(checkpoint, config);
  std::vector<std::vector<core::Real>> kept;
  write_model(gpt2 ? as_gpt2(model, kept) : model, path);
  core::write_durably(outputs[1],
                      model_card(checkpoint, config, find_run(line.words()[0]).directory,
                                 path.filename().string(), line.text("layout")));
  if (readable) core::write_durably(outputs[2], numpy_reader);
  if (gpt2)
    core::write_durably(outputs[2],
                        gpt2_config(config, checkpoint.arrays.at("params/tokens.weight").shape[0]));
  std::cout << model.arrays.size() << " arrays of step " << checkpoint.step << ", "
            << fs::file_size(path) << " bytes: " << path.string() << '\n';
  for (std::size_t i = 1; i < outputs.size(); ++i) std::cout << outputs[i].string() << '\n';
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
      .option("layout", "NAME", "gpt2: the file has the names and shapes of GPT-2", "weft")
      .option("rename", "MAP", "a file with lines OLD_NAME NEW_NAME");
  if (!line.parse(arguments)) return 0;
  const SafetensorsFile file(line.words()[0]);
  const RunConfig config = RunConfig::load(line.text("into"), line.overrides());
  core::set_threads(config.threads);
  Trainer trainer(config);
  Gpt2Names names;
  if (asks_for_gpt2(line)) {
    core::require(!line.has("rename"), "--rename and --layout gpt2 exclude each other");
    require_gpt2(config);
    check_activation(line.words()[0], config.model.activation);
    names = gpt2_names(file);
  }
  if (line.has("rename")) names.renamed = read_rename_map(line.text("rename"));
  const ImportReport report =
      import_model(trainer, file, names.renamed, line.has("partial"), names.turned, names.ignored);
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
