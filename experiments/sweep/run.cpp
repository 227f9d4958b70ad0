#include "experiments/sweep/run.h"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <sstream>
#include <thread>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/console/number_text.h"
#include "experiments/console/progress.h"
#include "experiments/hold/directory_lock.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"
#include "experiments/runs/removal.h"
#include "experiments/sweep/score.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;
using Phase = TrialState::Phase;

constexpr auto between_looks = std::chrono::milliseconds(50);
constexpr double live_seconds = 0.5;
constexpr int diverged_code = 3;  // of a process whose loss was no number any more

/// A process left by a killed sweep saves and stops; until then it holds its run.
void wait_until_free(const fs::path& run) {
  if (!fs::exists(run / DirectoryLock::file_name)) return;
  std::string holder;
  for (int tries = 0; tries < 1200 && !DirectoryLock::take(run, holder); ++tries)
    std::this_thread::sleep_for(between_looks);
}

std::string text_of(const Score& score) {
  return score.split + ' ' + format_fixed(score.values.at("bits"), 4) + " bits per " + score.unit;
}

/// The output of the scoring process, until it is known to be a complete score.
fs::path unfinished(const fs::path& score) {
  fs::path path = score;
  return path += core::temporary_ending;
}

}  // namespace

SweepRun::SweepRun(SweepFiles files, const SweepPlan& plan, const SweepOptions& options,
                   LiveText& display)
    : files_(std::move(files)), plan_(plan), options_(options), display_(display) {
  for (const PlannedTrial& planned : plan.trials) {
    states_.push_back(state_of(files_, planned));
    if (states_.back().phase == Phase::failed && options.retry_failed) states_.back() = {};
    const bool ended = states_.back().phase != Phase::waiting;
    outcomes_.push_back(ended ? outcome_of(files_, planned) : TrialOutcome{});
  }
  look_at_turns();
}

bool SweepRun::is_open(std::size_t i) const {
  const Phase phase = states_[i].phase;
  return turns_[i] == Turn::now && (phase == Phase::waiting || phase == Phase::trained) &&
         std::ranges::find(jobs_, i, &Job::trial) == jobs_.end();
}

void SweepRun::look_at_turns() {
  turns_ = turns_of(plan_, outcomes_);
  queue_.clear();
  for (std::size_t i = states_.size(); i-- > 0;)
    if (is_open(i)) queue_.push_back(i);
  const std::vector<std::string> rungs = open_rungs(plan_, turns_);
  for (std::size_t i = 0; i < rungs_.size(); ++i)
    if (rungs[i] != rungs_[i]) display_.message(rungs[i]);
  rungs_ = rungs;
}

std::string SweepRun::summary() const {
  const auto count = [&](auto holds) {
    Index n = 0;
    for (std::size_t i = 0; i < states_.size(); ++i)
      n += turns_[i] == Turn::now && holds(states_[i]);
    return n;
  };
  const auto is_in = [](Phase phase) {
    return [phase](const TrialState& state) { return state.phase == phase; };
  };
  std::string text = std::to_string(count(is_in(Phase::done))) + " done";
  const auto diverged = count([](const TrialState& state) { return state.diverged; });
  if (const auto failed = count(is_in(Phase::failed)) - diverged; failed > 0)
    text += ", " + std::to_string(failed) + " failed";
  if (diverged > 0) text += ", " + std::to_string(diverged) + " diverged";
  if (!jobs_.empty()) text += ", " + std::to_string(jobs_.size()) + " running";
  if (!queue_.empty()) text += ", " + std::to_string(queue_.size()) + " to run";
  if (const Index later = later_trials(plan_, turns_); later > 0)
    text += ", " + std::to_string(later) + " later";
  if (const auto pruned = std::ranges::count(turns_, Turn::pruned); pruned > 0)
    text += ", " + std::to_string(pruned) + " pruned";
  return text;
}

double SweepRun::seconds_left() const {
  double left = later_seconds(plan_, turns_);
  for (const std::size_t i : queue_) left += plan_.trials[i].seconds;
  for (const Job& job : jobs_)
    left += std::max(0.0, trial(job).seconds - (steady_seconds() - job.started));
  const double pace = expected_ > 0 ? taken_ / expected_ : 1;
  return left * pace / double(options_.jobs);
}

int SweepRun::run() {
  const StopSignal signal;
  double shown = 0;
  for (fill_slots(); !jobs_.empty(); fill_slots()) {
    std::this_thread::sleep_for(between_looks);
    const std::size_t running = jobs_.size();
    std::erase_if(jobs_, [&](Job& job) {
      const auto code = job.process->poll();
      return code && ended(job, *code);
    });
    if (jobs_.size() < running && !stopping_) look_at_turns();
    if (signal.requested() && !stopping_)
      stop(signal.name() + ": the running trials save and stop; the same command goes on");
    if (steady_seconds() - shown >= live_seconds) {
      show();
      shown = steady_seconds();
    }
  }
  close();
  if (signal.requested()) return signal.exit_code();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool is_dropped = plan_.trials[i].stage.is_rung() && states_[i].diverged;
    if (turns_[i] == Turn::later) return 1;
    if (turns_[i] == Turn::now && states_[i].phase != Phase::done && !is_dropped) return 1;
  }
  return 0;
}

void SweepRun::fill_slots() {
  for (std::size_t slot = 0; slot < std::size_t(options_.jobs); ++slot) {
    if (stopping_ || queue_.empty()) return;
    if (std::ranges::find(jobs_, slot, &Job::slot) != jobs_.end()) continue;
    Job job{.trial = queue_.back(), .slot = slot, .started = steady_seconds(), .process = {}};
    queue_.pop_back();
    job.scores = states_[job.trial].phase == Phase::trained;
    start(job);
    jobs_.push_back(std::move(job));
  }
}

void SweepRun::start(Job& job) {
  const PlannedTrial& planned = trial(job);
  const fs::path run = files_.run(planned.id), log = files_.log(planned.id);
  const auto processors = processors_of_job(own_processors(), job.slot, std::size_t(options_.jobs));
  const std::string threads = "threads=" + std::to_string(processors.size());
  const fs::path failure = files_.failure(planned.id);
  wait_until_free(run);
  fs::remove(failure);
  if (job.scores) {
    job.score_started = steady_seconds();
    std::vector<std::string> words = {"eval",   run.string(),       "--split", planned.split,
                                      "--ckpt", planned.checkpoint, "--json",  threads};
    if (planned.eval_tokens > 0)
      words.insert(words.end(), {"--tokens", std::to_string(planned.eval_tokens)});
    job.process = std::make_unique<ChildProcess>(
        words, processors,
        ChildProcess::Output{unfinished(files_.score(planned.id)), log, failure, false});
    return;
  }
  std::vector<std::string> words = {"train", files_.config(planned.id).string(), "--run",
                                    run.string(), threads};
  if (holds_run(run)) words.push_back("--resume");
  job.process = std::make_unique<ChildProcess>(words, processors,
                                               ChildProcess::Output{log, log, failure, true});
}

bool SweepRun::ended(Job& job, ExitCode code) {
  const PlannedTrial& planned = trial(job);
  if (code != 0) {
    if (stopping_)
      states_[job.trial] = state_of(files_, planned);
    else
      fail(job, code);
    outcomes_[job.trial] = outcome_of(files_, planned);
    return true;
  }
  outcomes_[job.trial] = outcome_of(files_, planned);
  if (options_.slim && (job.scores || planned.stage.is_rung())) slim_run(files_.run(planned.id));
  if (planned.stage.is_rung()) {
    states_[job.trial].phase = Phase::done;
    count_time(job);
    display_.message("tuned   " + planned.id + "  " + planned.label() + "  validation " +
                     format_fixed(outcomes_[job.trial].loss, 4) + "  " +
                     format_duration(steady_seconds() - job.started));
    return true;
  }
  if (!job.scores) {
    states_[job.trial].phase = Phase::trained;
    if (stopping_) return true;
    job.scores = true;
    start(job);
    return false;
  }
  const fs::path path = files_.score(planned.id);
  const std::string text = core::read_text_file(unfinished(path));
  const auto score = parse_score(text);
  if (!score)
    throw core::Error(
        core::Fault::checkpoint,
        "the score of trial " + planned.id + " is not whole: " + unfinished(path).string(),
        "Free some space on that disk; the same command goes on from here");
  core::write_durably(path, text, core::Fault::checkpoint);
  fs::remove(unfinished(path));
  states_[job.trial].phase = Phase::done;
  count_time(job);
  display_.message("done    " + planned.id + "  " + planned.label() + "  " + text_of(*score) +
                   "  " + format_duration(steady_seconds() - job.started));
  return true;
}

void SweepRun::count_time(const Job& job) {
  expected_ += trial(job).seconds;
  if (trial(job).seconds > 0) taken_ += steady_seconds() - job.started;
}

Failure SweepRun::failure_of(const PlannedTrial& planned, ExitCode code) const {
  if (code > 128) return {"ended by signal " + std::to_string(code - 128)};
  if (const auto failure = read_failure(files_.failure(planned.id))) return *failure;
  return {"ended with exit code " + std::to_string(code), "see " + files_.log(planned.id).string()};
}

void SweepRun::fail(const Job& job, ExitCode code) {
  const PlannedTrial& planned = trial(job);
  TrialState state = state_of(files_, planned);
  if (state.phase != Phase::failed) {
    state.phase = Phase::failed;
    const Failure failure = failure_of(planned, code);
    state.reason = in_one_line(failure.reason);
    // A process that was ended from outside can go on; one that gave up has said why. What cannot
    // be scored since it diverged is not scored again.
    const bool diverged = code == diverged_code;
    if (code < 128 && (!job.scores || diverged) && holds_run(files_.run(planned.id))) {
      RunStatus status = read_status({files_.run(planned.id)});
      status.state = diverged ? "diverged" : "failed";
      status.reason = failure.reason;
      status.advice = failure.advice;
      write_status({files_.run(planned.id)}, status);
      if (diverged) state = state_of(files_, planned);
    }
  }
  states_[job.trial] = state;
  display_.message((state.diverged ? "DIVERGED  " : "FAILED  ") + planned.id + "  " +
                   planned.label() + "  " + state.reason);
  if (options_.fail_fast && !stopping_) stop("--fail-fast: the running trials save and stop");
}

void SweepRun::stop(const std::string& why) {
  stopping_ = true;
  display_.message(why);
  for (Job& job : jobs_) job.process->ask_to_stop();
}

std::string SweepRun::share_scored(const Job& job) const {
  const double pace = expected_ > 0 ? taken_ / expected_ : 1;
  const double seconds = steady_seconds() - job.score_started;
  const double expected = pace * trial(job).scoring_seconds;
  if (expected <= 0) return "";
  return "  " + format_fixed(std::min(99.0, 100 * seconds / expected), 0) + "% of about " +
         format_duration(expected);
}

std::string SweepRun::line_of(const Job& job) const {
  const PlannedTrial& planned = trial(job);
  std::ostringstream line;
  line << "  " << planned.id << "  " << planned.label() << "  ";
  const auto record = last_record(RunFiles{files_.run(planned.id)}.metrics());
  if (job.scores)
    line << "scoring" << share_scored(job);
  else if (!record)
    line << "starting";
  else
    line << "step " << record->step << '/' << planned.steps << "  " << std::fixed
         << std::setprecision(0) << 100.0 * double(record->step) / double(planned.steps) << '%';
  if (record && record->has("loss"))
    line << "  loss " << std::setprecision(3) << record->number("loss");
  return line.str();
}

void SweepRun::show() {
  if (!display_.is_live()) return;
  std::vector<std::string> lines;
  for (const Job& job : jobs_) lines.push_back(line_of(job));
  const double left = seconds_left();
  lines.push_back(summary() + (left > 0 ? "   about " + format_duration(left) + " left" : ""));
  display_.show(std::move(lines));
}

void SweepRun::close() {
  display_.show({});
  bool failed = false;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].phase != Phase::failed) continue;
    if (plan_.trials[i].stage.is_rung() && states_[i].diverged) continue;  // halving dropped it
    if (!failed) display_.message("failed or diverged, and left out of every mean:");
    failed = true;
    display_.message("  " + plan_.trials[i].id + "  " + plan_.trials[i].label() + "  " +
                     states_[i].reason);
  }
  display_.message((stopping_ ? "stopped: " : "finished: ") + summary() +
                   (failed ? "   retry with: " + options_.command + " --retry failed" : ""));
}

}  // namespace weft::experiments
