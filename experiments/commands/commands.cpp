#include "experiments/commands/commands.h"

#include <algorithm>
#include <iostream>

#include "core/error.h"
#include "core/ranks/collectives.h"
#include "experiments/console/nearest_word.h"

namespace weft::experiments {
namespace {

void print_help(const std::string& program, std::span<const Command> commands) {
  std::size_t widest = 0;
  for (const Command& command : commands) widest = std::max(widest, command.name.size());
  for (const Command& command : commands)
    std::cout << "  " << program << ' ' << command.name
              << std::string(widest + 2 - command.name.size(), ' ') << command.summary << '\n';
  std::cout << '\n' << program << " VERB --help says more.\n";
}

/// "step, scale and decode"
std::string names_of(std::span<const Command> commands) {
  std::string text;
  for (std::size_t i = 0; i < commands.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == commands.size() ? " and " : ", ").append(commands[i].name);
  return text;
}

}  // namespace

std::span<const Command> data_commands() {
  static constexpr Command commands[] = {
      {"tokenizer", "learn subword tokens from a text", data_tokenizer_command},
      {"prepare", "write a text as tokens, ready to train on", data_prepare_command},
      {"dedup", "drop documents that nearly repeat earlier ones", data_dedup_command},
  };
  return commands;
}

std::span<const Command> all_commands() {
  static constexpr Command commands[] = {
      {"train", "train the model that a config describes, or continue a run", train_command,
       nullptr, true},
      {"eval", "score a run's model on a split, every token once", eval_command, nullptr, true},
      {"predict", "apply a run's model to new texts: classes, blanks, answers, targets",
       predict_command},
      {"generate", "generate text with a run's model", generate_command},
      {"config", "show every setting of a config and where it was set", config_command},
      {"list", "list attentions, trunks, feed-forwards, data and norms, or explain one",
       list_command, list_commands},
      {"bench", "measure a training step, its growth with the length, or decoding", nullptr,
       bench_commands},
      {"verify-resume", "check that an interrupted run ends in the same bits",
       verify_resume_command, nullptr, true},
      {"audit", "count the outputs that change when later tokens change", audit_command, nullptr,
       true},
      {"sweep", "train every trial of an experiment, or continue it", sweep_command},
      {"report", "compare the trials of a sweep, or show runs, in tables and pictures",
       report_command},
      {"show", "show which keys the heads of a run's model read", show_command},
      {"watch", "show a run or a sweep while it runs", watch_command},
      {"plan", "estimate time and memory of a run, and whether it fits", plan_command},
      {"runs", "list, compare, delete or slim runs", runs_command, runs_commands},
      {"export", "write a run's model as safetensors or npz, with a card", export_command},
      {"import", "start a run with a model from safetensors", import_command},
      {"ckpt", "list, show or verify the checkpoints of a run", nullptr, ckpt_commands},
      {"data", "learn a tokenizer, prepare a text for training, or drop its near-duplicates",
       nullptr, data_commands},
      {"completion", "print a script that lets a shell complete verbs and settings",
       completion_command},
  };
  return commands;
}

namespace {

/// The command that a word names. Where several processes ask, one says what is wrong.
const Command& find_command(const std::string& program, std::span<const Command> commands,
                            const std::string& word) {
  const auto found = std::ranges::find(commands, word, &Command::name);
  core::together(core::ranks(), [&] {
    if (found == commands.end()) {
      std::vector<std::string> known;
      for (const Command& command : commands) known.emplace_back(command.name);
      const std::string meant = nearest(word, known);
      throw core::Error(core::message_of("there is no verb \"", word, "\" of ", program,
                                         meant.empty() ? ";" : "; did you mean " + meant + "?", " ",
                                         program, " --help lists them"));
    }
    core::require(!found->run || found->shared || core::launch_environment().count == 1, program,
                  " ", word, " runs in one process: start it without mpirun or srun");
  });
  return *found;
}

}  // namespace

bool is_shared(std::span<const Command> commands, std::span<const std::string> words) {
  if (words.empty()) return false;
  const auto found = std::ranges::find(commands, words[0], &Command::name);
  if (found == commands.end()) return false;
  return found->run ? found->shared : is_shared(found->verbs(), words.subspan(1));
}

int run_command(const std::string& program, std::span<const Command> commands,
                const Arguments& words) {
  core::require(!words.empty(), program, " needs a verb: ", names_of(commands));
  if (words[0] == "--help") {
    print_help(program, commands);
    return 0;
  }
  const Command& command = find_command(program, commands, words[0]);
  const Arguments others(words.begin() + 1, words.end());
  if (command.run) return command.run(others);
  return run_command(program + " " + std::string(command.name), command.verbs(), others);
}

}  // namespace weft::experiments
