#include <algorithm>
#include <iostream>
#include <map>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/commands/commands.h"
#include "experiments/console/columns.h"
#include "experiments/console/command_line.h"
#include "experiments/console/number_text.h"
#include "experiments/run/run_config.h"
#include "experiments/runs/removal.h"
#include "experiments/runs/run_list.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::vector<std::string>>;

/// The runs below the directories that were named, or below runs/ and sweeps/.
std::vector<RunSummary> runs_below(std::vector<std::string> roots) {
  if (roots.empty())
    for (const char* usual : {"runs", "sweeps"})
      if (fs::is_directory(usual)) roots.emplace_back(usual);
  std::vector<RunSummary> found;
  for (const std::string& root : roots)
    for (RunSummary& run : find_runs(root)) found.push_back(std::move(run));
  return found;
}

std::string best_of(const RunSummary& run) { return run.best ? format_fixed(*run.best, 4) : "-"; }

void print_table(const std::vector<RunSummary>& runs) {
  Rows rows{{"state", "step", "best loss", "MiB", "age", "run"}};
  for (const RunSummary& run : runs)
    rows.push_back({run.state, std::to_string(run.step), best_of(run),
                    format_mib(double(run.bytes)), format_duration(run.age),
                    run.directory.string()});
  std::cout << format_columns(rows, 40);
}

double total_bytes(const std::vector<RunSummary>& runs) {
  double bytes = 0;
  for (const RunSummary& run : runs) bytes += double(run.bytes);
  return bytes;
}

std::string counted(const std::vector<RunSummary>& runs) {
  return format_number_of(double(runs.size()), "run") + ", " + format_mib(total_bytes(runs)) +
         " MiB";
}

int runs_ls(const Arguments& arguments) {
  CommandLine line("weft runs ls [DIR...]",
                   "Lists the runs below DIR (runs and sweeps, unless given) with their state, "
                   "step, lowest validation loss, size and the time since they last wrote. A run "
                   "whose status is running although no process holds it was killed.");
  if (!line.words(0, 100000, "DIR").parse(arguments)) return 0;
  const std::vector<RunSummary> runs = runs_below(line.words());
  if (!runs.empty()) print_table(runs);
  std::cout << counted(runs) << '\n';
  return 0;
}

std::map<std::string, std::string> settings_of(const fs::path& run) {
  const fs::path file = find_run(run).config();
  return RunConfig::from_text(core::read_text_file(file), file.string()).resolved.values();
}

int runs_diff(const Arguments& arguments) {
  CommandLine line("weft runs diff A B",
                   "Shows the settings in which two runs differ, and how far each has come.");
  if (!line.words(2, 2, "a run").parse(arguments)) return 0;
  const fs::path a = line.words()[0], b = line.words()[1];
  const auto of_a = settings_of(a), of_b = settings_of(b);
  const RunSummary first = summarise_run(a), second = summarise_run(b);
  Rows rows{{"", a.string(), b.string()},
            {"state", first.state, second.state},
            {"step", std::to_string(first.step), std::to_string(second.step)},
            {"best loss", best_of(first), best_of(second)}};
  const auto value = [](const auto& settings, const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string("-") : found->second;
  };
  for (const auto& [key, own] : of_a)
    if (own != value(of_b, key)) rows.push_back({key, own, value(of_b, key)});
  for (const auto& [key, own] : of_b)
    if (!of_a.contains(key)) rows.push_back({key, "-", own});
  std::cout << format_columns(rows, 60);
  return 0;
}

bool agrees(const std::string& question) {
  std::cout << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

void remove(const RunSummary& run) {
  switch (remove_run(run.directory)) {
    case Removal::removed:
      break;
    case Removal::in_use:
      std::cout << run.directory.string() << ": a process is at work there, it was left alone\n";
      break;
    case Removal::others_remain:
      std::cout << run.directory.string() << ": holds other files too, which were kept\n";
      break;
  }
}

int runs_rm(const Arguments& arguments) {
  CommandLine line("weft runs rm DIR...",
                   "Deletes runs: DIR itself where it is a run, else the runs below it that wrote "
                   "nothing for a while (--older). It lists them and asks first. A run that a "
                   "process holds, and files that weft did not write, are never deleted.");
  line.words(1, 100000, "DIR")
      .option("older", "AGE", "only runs that wrote nothing for this long: 7d, 12h, 30m")
      .flag("yes", "do not ask");
  if (!line.parse(arguments)) return 0;
  const double oldest = line.has("older") ? parse_age(line.text("older")) : 0;
  for (const std::string& root : line.words())
    core::require(line.has("older") || holds_run(root), root,
                  " is no run: say which of the runs below it with --older 7d, or name them");
  std::vector<RunSummary> runs = runs_below(line.words());
  const std::size_t live =
      std::erase_if(runs, [&](const RunSummary& run) { return run.state == "running"; });
  std::erase_if(runs, [&](const RunSummary& run) { return run.age < oldest; });
  if (live > 0)
    std::cout << format_number_of(double(live), "running one") << " not counted: left alone\n";
  if (runs.empty()) {
    std::cout << "nothing to delete\n";
    return 0;
  }
  print_table(runs);
  if (!line.has("yes") && !agrees("delete " + counted(runs) + "?")) {
    std::cout << "nothing was deleted\n";
    return 1;
  }
  for (const RunSummary& run : runs) remove(run);
  return 0;
}

int runs_slim(const Arguments& arguments) {
  CommandLine line("weft runs slim DIR...",
                   "Keeps only weights of finished runs: the newest and the best checkpoint, "
                   "without the optimizer's moments. They can still be scored, exported and "
                   "started from (--init-from), but not be resumed.");
  if (!line.words(1, 100000, "DIR").parse(arguments)) return 0;
  double gained = 0;
  for (const RunSummary& run : runs_below(line.words())) {
    const std::string name = run.directory.string();
    if (run.state != "finished") {
      std::cout << name << ": is " << run.state << ", not finished: left as it is\n";
      continue;
    }
    if (const auto bytes = slim_run(run.directory))
      gained += double(*bytes);
    else
      std::cout << name << ": a process is at work there, it was left alone\n";
  }
  std::cout << format_mib(gained) << " MiB gained\n";
  return 0;
}

}  // namespace

std::span<const Command> runs_commands() {
  static constexpr Command commands[] = {
      {"ls", "list runs with state, step, best loss, size and age", runs_ls},
      {"diff", "show how two runs differ", runs_diff},
      {"rm", "delete runs, after asking", runs_rm},
      {"slim", "keep only the weights of finished runs", runs_slim},
  };
  return commands;
}

int runs_command(const Arguments& arguments) {
  const bool is_verb =
      !arguments.empty() && (arguments[0] == "--help" ||
                             std::ranges::any_of(runs_commands(), [&](const Command& command) {
                               return command.name == arguments[0];
                             }));
  return is_verb ? run_command("weft runs", runs_commands(), arguments) : runs_ls(arguments);
}

}  // namespace weft::experiments
