#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/store.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/saved_model.h"
#include "experiments/console/columns.h"
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
    rows.push_back({entry.file, std::to_string(entry.step), format_mib(double(entry.bytes)),
                    entry.validation ? format_fixed(*entry.validation, 4) : "-",
                    std::string(newest ? "last " : "") + (best ? "best" : "")});
  }
  std::cout << format_columns(rows, 60);
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
  for (const auto& [name, fact] : checkpoint.facts) {
    const std::string text = text_of(fact);
    rows.push_back({name, name != "data/tokenizer"
                              ? text
                              : core::message_of("a SentencePiece model, ", text.size(),
                                                 " letters of base64")});
  }
  for (const auto& [name, array] : checkpoint.arrays)
    rows.push_back({name, core::message_of(array.shape)});
  std::cout << format_columns(rows, 60);
}

/// All checkpoints of the run that the first word names.
CheckpointStore store_of(const CommandLine& line) {
  return CheckpointStore(find_run(line.words()[0]).checkpoints(), 1000, 1000);
}

int ckpt_ls(const Arguments& arguments) {
  CommandLine line("weft ckpt ls RUN", "Lists a run's checkpoints, newest first.");
  if (!line.words(1, 1, "RUN").parse(arguments)) return 0;
  list_checkpoints(store_of(line));
  return 0;
}

int ckpt_show(const Arguments& arguments) {
  CommandLine line("weft ckpt show RUN", "Prints what one of a run's checkpoints holds.");
  line.words(1, 1, "RUN");
  add_checkpoint_option(line);
  if (!line.parse(arguments)) return 0;
  show_checkpoint(load_saved_checkpoint(line));
  return 0;
}

int ckpt_verify(const Arguments& arguments) {
  CommandLine line("weft ckpt verify RUN",
                   "Reads every checkpoint of a run completely; exits with 5 when one is damaged.");
  if (!line.words(1, 1, "RUN").parse(arguments)) return 0;
  return verify_checkpoints(store_of(line)) == 0 ? 0 : 5;
}

}  // namespace

std::span<const Command> ckpt_commands() {
  static constexpr Command commands[] = {
      {"ls", "list a run's checkpoints, newest first", ckpt_ls},
      {"show", "print what a checkpoint holds", ckpt_show},
      {"verify", "read every checkpoint completely", ckpt_verify},
  };
  return commands;
}

}  // namespace weft::experiments
