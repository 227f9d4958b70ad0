#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/console/live_text.h"
#include "experiments/run/failure.h"
#include "experiments/run/stop_signal.h"
#include "experiments/sweep/child_process.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/turns.h"

namespace weft::experiments {

struct SweepOptions {
  Index jobs = 1;
  bool retry_failed = false;
  bool fail_fast = false;
  bool slim = false;    ///< of trials that have ended only weights are kept
  std::string command;  ///< what the user typed, for what to type next
};

/// Runs the trials of a sweep whose turn it is and that are not done, `jobs` at a time, each as
/// processes of this program on processors of its own: training, then the score of its best
/// checkpoint. Trials of rungs are not scored; when one ends, others may get their turn.
class SweepRun {
 public:
  SweepRun(SweepFiles files, const SweepPlan& plan, const SweepOptions& options, LiveText& display);

  /// 0 when every trial is done, 1 when one has failed, 128 + N after signal N.
  int run();

  /// Trials that a run would work on.
  Index open() const { return Index(queue_.size()); }
  const std::vector<Turn>& turns() const { return turns_; }
  /// "17 done, 1 failed, 6 to run"
  std::string summary() const;
  /// Expected of all that is open, in seconds; 0 when unknown.
  double seconds_left() const;

 private:
  struct Job {
    std::size_t trial = 0;
    std::size_t slot = 0;
    bool scores = false;
    double started = 0, score_started = 0;
    std::unique_ptr<ChildProcess> process;
  };

  const PlannedTrial& trial(const Job& job) const { return plan_.trials[job.trial]; }
  /// Puts every trial whose turn it is and that is open into the queue, and says which rungs
  /// opened.
  void look_at_turns();
  bool is_open(std::size_t trial) const;
  void fill_slots();
  void start(Job& job);
  /// False when the job goes on with its score.
  bool ended(Job& job, ExitCode code);
  Failure failure_of(const PlannedTrial& planned, ExitCode code) const;
  void fail(const Job& job, ExitCode code);
  void stop(const std::string& why);
  void show();
  void count_time(const Job& job);
  std::string line_of(const Job& job) const;
  /// "  35% of about 1m": by the clock.
  std::string share_scored(const Job& job) const;
  void close();

  SweepFiles files_;
  const SweepPlan& plan_;
  SweepOptions options_;
  LiveText& display_;
  std::vector<TrialState> states_;
  std::vector<TrialOutcome> outcomes_;
  std::vector<Turn> turns_;
  std::vector<std::string> rungs_;  ///< the open ones, as last said
  std::vector<std::size_t> queue_;  ///< trials to run, the next one last
  std::vector<Job> jobs_;
  bool stopping_ = false;
  double expected_ = 0, taken_ = 0;  ///< seconds of the trials that ended here
};

}  // namespace weft::experiments
