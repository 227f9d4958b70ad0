#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/store.h"
#include "experiments/commands/commands.h"
#include "experiments/config/text.h"
#include "experiments/console/command_line.h"
#include "experiments/console/number_text.h"
#include "experiments/run/run_files.h"

namespace weft::experiments {
namespace {

std::string text_of(const Fact& fact) {
  return std::visit([](const auto& value) { return core::message_of(value); }, fact);
}

void list_checkpoints(const CheckpointStore& store) {
  std::vector<std::vector<std::string>> rows{{"file", "step", "MiB", "validation", ""}};
  for (const CheckpointEntry& entry : store.list()) {
    const bool newest = entry == store.list().front();
    const bool best = !store.best().empty() && entry == store.best().front();
    rows.push_back({entry.file, std::to_string(entry.step),
                    format_fixed(double(entry.bytes) / (1 << 20), 1),
                    entry.validation ? format_fixed(*entry.validation, 4) : "-",
                    std::string(newest ? "last " : "") + (best ? "best" : "")});
  }
  std::cout << align(rows, 60);
}

/// How many of the run's checkpoints are damaged.
int verify_checkpoints(const CheckpointStore& store) {
  int damaged = 0;
  for (const CheckpointEntry& entry : store.list()) {
    try {
      load_checkpoint(store.directory() / entry.file);
      std::cout << entry.file << ": whole\n";
    } catch (const core::Error& error) {
      std::cout << entry.file << ": DAMAGED: " << error.what() << '\n';
      ++damaged;
    }
  }
  return damaged;
}

void show_checkpoint(const Checkpoint& checkpoint) {
  std::cout << checkpoint.path.string() << ": step " << checkpoint.step << '\n';
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, fact] : checkpoint.facts) rows.push_back({name, text_of(fact)});
  for (const auto& [name, array] : checkpoint.arrays)
    rows.push_back({name, core::message_of(array.shape)});
  std::cout << align(rows, 60);
}

}  // namespace

int ckpt_command(const Arguments& arguments) {
  CommandLine line("weft ckpt ls|show|verify RUN",
                   "ls lists a run's checkpoints, newest first. show prints what one holds. verify "
                   "reads every one to its end and exits with 5 when one is damaged.");
  line.words(2, 2, "ls|show|verify RUN")
      .option("ckpt", "WHICH", "what show shows: best, last, or a checkpoint file", "last");
  if (!line.parse(arguments)) return 0;
  const std::string &what = line.words()[0], &which = line.text("ckpt");
  const RunFiles files = find_run(line.words()[1]);
  CheckpointStore store(files.checkpoints(), 1000, 1000);
  std::vector<std::string> warnings;
  if (what == "ls")
    list_checkpoints(store);
  else if (what == "verify")
    return verify_checkpoints(store) == 0 ? 0 : 5;
  else if (what == "show")
    show_checkpoint(which == "best"   ? store.load_best(warnings)
                    : which == "last" ? store.load_last(warnings)
                                      : load_checkpoint(which));
  else
    throw core::Error("weft ckpt knows ls, show and verify, not " + what);
  for (const std::string& warning : warnings) std::cerr << "warning: " << warning << '\n';
  return 0;
}

}  // namespace weft::experiments
