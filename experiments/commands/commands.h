#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::experiments {

using Arguments = std::vector<std::string>;

/// A verb of the program: it runs and returns the exit code, or it has subcommands
/// (weft bench step); with both it chooses between them itself.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments& arguments);
  std::span<const Command> (*verbs)() = nullptr;
  bool shared = false;  ///< several processes can do it together
};

int train_command(const Arguments& arguments);
int eval_command(const Arguments& arguments);
int predict_command(const Arguments& arguments);
int generate_command(const Arguments& arguments);
int config_command(const Arguments& arguments);
int verify_resume_command(const Arguments& arguments);
int audit_command(const Arguments& arguments);
int sweep_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int show_command(const Arguments& arguments);
int watch_command(const Arguments& arguments);
int plan_command(const Arguments& arguments);
int export_command(const Arguments& arguments);
int import_command(const Arguments& arguments);
/// A word that is not a subcommand names a kind.
int list_command(const Arguments& arguments);
/// Without a verb it lists.
int runs_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);
/// weft help VERB, or a page of the manual; the words are not empty.
int help_command(const Arguments& words);
int data_tokenizer_command(const Arguments& arguments);
int data_prepare_command(const Arguments& arguments);
int data_dedup_command(const Arguments& arguments);

std::span<const Command> list_commands();
std::span<const Command> bench_commands();
std::span<const Command> ckpt_commands();
std::span<const Command> data_commands();
std::span<const Command> runs_commands();

std::span<const Command> all_commands();

/// Whether the words name a command that several processes may run together.
bool is_shared(std::span<const Command> commands, std::span<const std::string> words);

/// Runs the command that the first word names, with the other words. `program` is how the user got
/// here: "weft", or "weft bench" for a verb's own verbs. --help lists them.
int run_command(const std::string& program, std::span<const Command> commands,
                const Arguments& words);

}  // namespace weft::experiments
