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
#include "experiments/sweep/score.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;
using Phase = TrialState::Phase;

constexpr auto between_looks = std::chrono::milliseconds(50);
constexpr double live_seconds = 0.5;
constexpr int diverged_code = 3;  // of a process whose loss was no number any more

/// A process that a killed sweep left behind saves and stops; until then its run is its own.
void wait_until_free(const fs::path& run) {
  if (!fs::exists(run / DirectoryLock::file_name)) return;
  std::string holder;
  for (int tries = 0; tries < 1200 && !DirectoryLock::take(run, holder); ++tries)
    std::this_thread::sleep_for(between_looks);
}

std::string text_of(const Score& score) {
  return score.split + ' ' + format_fixed(score.values.at("bits"), 4) + " bits per " + score.unit;
}

/// What the process that scores prints, until it is known to be a whole score.
fs::path unfinished(const fs::path& score) {
  fs::path path = score;
  return path += core::temporary_ending;
}

}  // namespace

SweepRun::SweepRun(SweepFiles files, const SweepPlan& plan, const SweepOptions& options,
                   LiveText& display)
    : files_(std::move(files)), plan_(plan), options_(options), display_(display) {
  for (const PlannedTrial& planned : plan.trials) states_.push_back(state_of(files_, planned.id));
  for (std::size_t i = states_.size(); i-- > 0;) {
    if (states_[i].phase == Phase::failed && options.retry_failed) states_[i] = {};
    if (states_[i].phase == Phase::waiting || states_[i].phase == Phase::trained)
      queue_.push_back(i);
  }
}

std::string SweepRun::summary() const {
  const auto count = [&](Phase phase) {
    return std::ranges::count(states_, phase, &TrialState::phase);
  };
  std::string text = std::to_string(count(Phase::done)) + " done";
  const auto diverged = std::ranges::count_if(states_, &TrialState::diverged);
  if (const auto failed = count(Phase::failed) - diverged; failed > 0)
    text += ", " + std::to_string(failed) + " failed";
  if (diverged > 0) text += ", " + std::to_string(diverged) + " diverged";
  if (!jobs_.empty()) text += ", " + std::to_string(jobs_.size()) + " running";
  const auto open = count(Phase::waiting) + count(Phase::trained) - std::ptrdiff_t(jobs_.size());
  if (open > 0) text += ", " + std::to_string(open) + " to run";
  return text;
}

double SweepRun::seconds_left() const {
  double left = 0;
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
    std::erase_if(jobs_, [&](Job& job) {
      const auto code = job.process->poll();
      return code && ended(job, *code);
    });
    if (signal.requested() && !stopping_)
      stop(signal.name() + ": the running trials save and stop; the same command goes on");
    if (steady_seconds() - shown >= live_seconds) {
      show();
      shown = steady_seconds();
    }
  }
  close();
  if (signal.requested()) return signal.exit_code();
  return std::ranges::all_of(states_, [](const TrialState& s) { return s.phase == Phase::done; })
             ? 0
             : 1;
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
    const std::vector<std::string> words = {"eval",   run.string(),       "--split", planned.split,
                                            "--ckpt", planned.checkpoint, "--json",  threads};
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
      states_[job.trial] = state_of(files_, planned.id);
    else
      fail(job, code);
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
  const double seconds = steady_seconds() - job.started;
  expected_ += planned.seconds;
  if (planned.seconds > 0) taken_ += seconds;
  display_.message("done    " + planned.id + "  " + planned.label() + "  " + text_of(*score) +
                   "  " + format_duration(seconds));
  return true;
}

Failure SweepRun::failure_of(const PlannedTrial& planned, ExitCode code) const {
  if (code > 128) return {"ended by signal " + std::to_string(code - 128)};
  if (const auto failure = read_failure(files_.failure(planned.id))) return *failure;
  return {"ended with exit code " + std::to_string(code), "see " + files_.log(planned.id).string()};
}

void SweepRun::fail(const Job& job, ExitCode code) {
  const PlannedTrial& planned = trial(job);
  TrialState state = state_of(files_, planned.id);
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
      if (diverged) state = state_of(files_, planned.id);
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

std::string SweepRun::line_of(const Job& job) const {
  const PlannedTrial& planned = trial(job);
  std::ostringstream line;
  line << "  " << planned.id << "  " << planned.label() << "  ";
  const auto record = last_record(RunFiles{files_.run(planned.id)}.metrics());
  if (job.scores)
    line << "scoring";
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
    if (!failed) display_.message("failed or diverged, and left out of every mean:");
    failed = true;
    display_.message("  " + plan_.trials[i].id + "  " + plan_.trials[i].label() + "  " +
                     states_[i].reason);
  }
  display_.message((stopping_ ? "stopped: " : "finished: ") + summary() +
                   (failed ? "   retry with: " + options_.command + " --retry failed" : ""));
}

}  // namespace weft::experiments
