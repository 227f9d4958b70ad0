#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/ranks/ranks.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/console/number_text.h"
#include "experiments/console/progress.h"
#include "experiments/hold/directory_lock.h"
#include "experiments/sweep/equal_check.h"
#include "experiments/sweep/estimate.h"
#include "experiments/sweep/run.h"
#include "experiments/sweep/same_systems.h"
#include "experiments/sweep/slurm_sweep.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

fs::path directory_of(const CommandLine& line) {
  if (line.has("dir")) return line.text("dir");
  return fs::path("sweeps") / fs::path(line.words()[0]).stem();
}

/// What the user typed.
struct Typed {
  std::string command = "weft sweep";  ///< with the sweep file and settings
  std::string options;                 ///< where, and how many trials at a time

  explicit Typed(const CommandLine& line, Index jobs) {
    for (const std::string& word : line.words()) command += " " + word;
    if (jobs > 1) options += " -j " + std::to_string(jobs);
    if (line.has("dir")) options += " --dir " + line.text("dir");
  }
};

/// The plan without its trials.
SweepPlan rules_of(const CommandLine& line, const SweepFile& sweep, const Budget& budget,
                   const Typed& typed) {
  SweepPlan plan{.name = fs::path(line.words()[0]).stem().string(),
                 .command = typed.command,
                 .budget = budget.text(),
                 .trials = {},
                 .options = typed.options};
  plan.rungs = sweep.rungs;
  plan.prune = sweep.prune;
  plan.equal = sweep.equal;
  for (const SweepAxis& axis : sweep.axes)
    if (axis.origin == SweepAxis::Origin::tune) plan.tuned = axis.keys();
  return plan;
}

SweepPlan plan_of(const CommandLine& line, const SweepFile& sweep, const std::vector<Trial>& trials,
                  const SweepFiles& files, Index jobs, const Typed& typed) {
  std::vector<bool> open;
  for (const Trial& trial : trials) {
    const TrialState::Phase phase = state_of(files, trial.id).phase;
    open.push_back(phase == TrialState::Phase::waiting ||
                   (phase == TrialState::Phase::failed && line.has("retry")));
  }
  const Index threads = Index(processors_of_job(own_processors(), 0, std::size_t(jobs)).size());
  const Budget budget = common_budget(trials);
  SweepPlan plan = rules_of(line, sweep, budget, typed);
  plan.trials = plan_trials(trials, open, threads, sweep.eval_tokens, [](Index kinds) {
    std::cerr << "measuring " << kinds << (kinds == 1 ? " kind of trial" : " kinds of trials")
              << ", two steps of each\n";
  });
  check_equal(plan, budget);
  return plan;
}

void keep(const SweepFiles& files, const SweepPlan& plan, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) {
    fs::create_directories(files.config(trial.id).parent_path());
    core::write_durably(files.config(trial.id), trial.config.toml(), core::Fault::checkpoint);
  }
  fs::create_directories(files.log("").parent_path());
  fs::create_directories(files.score("").parent_path());
  write_plan(files, plan);
}

/// "12 trials = 2 model.attention x 3 seed", or how a sweep that tunes goes about it.
std::string outline(const SweepFile& sweep, const std::vector<Trial>& trials, const SweepPlan& plan,
                    const std::vector<Turn>& turns) {
  const std::string excluded = sweep.excluded.empty() ? "" : ", less what is excluded";
  if (plan.rungs.empty())
    return std::to_string(plan.trials.size()) + " trials = " + product_of(sweep, trials) + excluded;
  const auto now = std::ranges::count(turns, Turn::now);
  std::string text = std::to_string(now + later_trials(plan, turns)) + " trials of " +
                     product_of(sweep, trials) + excluded + "; each arm tunes";
  for (const std::string& key : plan.tuned) text += (key == plan.tuned.front() ? " " : ", ") + key;
  const char* before = ": ";
  for (const Rung& rung : plan.rungs) {
    text += before + std::to_string(rung.candidates) + " candidates with " +
            format_fixed(100 * rung.share, 0) + " % of the budget";
    before = ", ";
  }
  return text + ", then its seeds with all of it";
}

void announce(const SweepRun& run, const SweepFile& sweep, const std::vector<Trial>& trials,
              const SweepPlan& plan, Index jobs) {
  std::cout << outline(sweep, trials, plan, run.turns()) << ": " << run.summary() << '\n';
  for (const std::string& remark : trials.front().config.remarks) std::cout << remark << '\n';
  if (plan.budget.empty())
    std::cout << "warning: the trials have different budgets; results compare systems only where "
                 "the budget is the same\n";
  else
    std::cout << "every trial has the same budget: train." << plan.budget << '\n';
  if (sweep.eval_tokens > 0)
    std::cout << "every trial is scored on the first " << sweep.eval_tokens
              << " tokens of its split ([eval])\n";
  if (plan.equal) std::cout << describe_equal(plan) << '\n';
  for (const std::string& pair : same_systems(plan)) std::cout << "warning: " << pair << '\n';
  if (plan.prune)
    std::cout << "[prune]: more than " << format_exact(100 * plan.prune->behind)
              << " % above the lowest validation loss after "
              << format_number_of(double(plan.prune->after), "seed") << ", no further seed\n";
  if (const double seconds = run.seconds_left(); seconds > 0)
    std::cout << "estimate: about " << format_duration(seconds) << " with " << jobs
              << (jobs == 1 ? " trial" : " trials")
              << " at a time, validations and scores included\n";
  std::cout << std::flush;
}

/// One sweep at a time works in a directory.
DirectoryLock hold(const SweepFiles& files) {
  fs::create_directories(files.directory);
  std::string holder;
  auto lock = DirectoryLock::take(files.directory, holder);
  core::require(lock.has_value(), "another sweep is running in ", files.directory.string(), " (",
                holder, "): wait for it, stop it, or choose another directory with --dir DIR");
  return std::move(*lock);
}

/// Validates all trials, times none, and leaves the training to Slurm.
int submit(const CommandLine& line, const SweepFile& sweep, const std::vector<Trial>& trials,
           const Typed& typed) {
  core::require(!line.has("dry-run") && !line.has("fail-fast") && !line.has("slim"),
                "--slurm leaves the trials to Slurm: leave out --dry-run, --fail-fast and --slim");
  const SlurmOptions slurm{slurm_words(line.text("slurm")),
                           line.has("jobs") ? line.integer("jobs") : 0};
  const SweepFiles files{fs::absolute(directory_of(line)).lexically_normal()};
  const Budget budget = common_budget(trials);
  SweepPlan plan = rules_of(line, sweep, budget, typed);
  plan.trials = plan_trials(trials, std::vector<bool>(trials.size(), false), 1, sweep.eval_tokens);
  check_equal(plan, budget);
  const DirectoryLock lock = hold(files);
  keep(files, plan, trials);
  submit_open_trials(files, plan, slurm, line.has("retry"), std::cout);
  std::cout << "how they are: " << typed.command << typed.options
            << " --status\ntables and pictures: weft report " << directory_of(line).string()
            << '\n';
  return 0;
}

int show_status(const CommandLine& line) {
  const SweepFiles files{fs::absolute(directory_of(line)).lexically_normal()};
  print_slurm_status(files, read_plan(files), std::cout);
  return 0;
}

}  // namespace

int sweep_command(const Arguments& arguments) {
  CommandLine line(
      "weft sweep SWEEP [section.key=value ...]",
      "Trains every trial of a sweep file. The same command continues where the "
      "last one stopped: finished trials are skipped, interrupted ones continue bit for "
      "bit. Exits with 1 when a trial failed.");
  line.words(1, 1000, "SWEEP")
      .option("jobs,j", "N", "trials that run at the same time and share the cores (1)")
      .option("dir", "DIR", "the sweep's directory (sweeps/NAME)")
      .option("retry", "failed", "also run the trials that failed or diverged")
      .flag("fail-fast", "stop at the first failure")
      .flag("slim", "of every trial that has ended keep only weights, as weft runs slim does")
      .option("slurm", "OPTIONS",
              "submit the trials to Slurm with these options of sbatch, and return; the same "
              "command again submits trials that are neither finished nor queued; -j limits the "
              "trials of an array that run at the same time")
      .flag("status", "list the trials: done, failed, diverged, running, queued or lost")
      .flag("dry-run", "list the trials with the estimated time of each, and run none");
  if (!line.parse(arguments)) return 0;
  core::require(core::launch_environment().count == 1,
                "weft sweep starts its trials itself: call it without mpirun or srun, or leave the "
                "trials to Slurm with --slurm");
  core::require(!line.has("retry") || line.text("retry") == "failed",
                "--retry accepts only failed, not ", line.has("retry") ? line.text("retry") : "");
  SweepOptions options{.jobs = line.has("jobs") ? line.integer("jobs") : 1,
                       .retry_failed = line.has("retry"),
                       .fail_fast = line.has("fail-fast"),
                       .slim = line.has("slim"),
                       .command = {}};
  core::require(options.jobs >= 1 && options.jobs <= 1000, "-j ", options.jobs,
                " is not between 1 and 1000");
  const Typed typed(line, options.jobs);
  options.command = typed.command + typed.options + (options.slim ? " --slim" : "");

  if (line.has("status")) return show_status(line);
  const SweepFile sweep = SweepFile::load(line.words()[0]);
  const std::vector<Trial> trials = trials_of(sweep, line.overrides());
  if (line.has("slurm")) return submit(line, sweep, trials, typed);
  const SweepFiles files{directory_of(line)};
  const SweepPlan plan = plan_of(line, sweep, trials, files, options.jobs, typed);
  LiveText display(std::cout, [] { return terminal_columns(STDOUT_FILENO); });
  if (line.has("dry-run")) {
    const SweepRun run(files, plan, options, display);
    announce(run, sweep, trials, plan, options.jobs);
    for (std::size_t i = 0; i < plan.trials.size(); ++i)
      if (run.turns()[i] == Turn::now)
        std::cout << "  " << plan.trials[i].id << "  " << plan.trials[i].label() << "  "
                  << format_duration(plan.trials[i].seconds) << '\n';
    if (const Index later = later_trials(plan, run.turns()); later > 0)
      std::cout << "  and later " << later << " more, about "
                << format_duration(later_seconds(plan, run.turns())) << " together\n";
    return 0;
  }
  const DirectoryLock lock = hold(files);
  keep(files, plan, trials);
  SweepRun run(files, plan, options, display);
  announce(run, sweep, trials, plan, options.jobs);
  const int code = run.run();
  std::cout << "tables and pictures: weft report " << files.directory.string() << '\n';
  return code;
}

}  // namespace weft::experiments
