#pragma once

#include <fstream>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "experiments/checkpoint/store.h"
#include "experiments/console/progress.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_directory.h"
#include "experiments/run/tensorboard_log.h"
#include "experiments/train/agreement.h"
#include "experiments/train/trainer.h"
#include "experiments/train/validation.h"

namespace weft::experiments {

/// How a run is started.
struct RunOptions {
  RunStart start = RunStart::anew;
  std::string init_from;       ///< a run whose model the trainer already has; empty: none
  std::string command;         ///< what the user typed
  bool is_smoke_test = false;  ///< the final validation takes no more batches than others
};

/// A training run in its directory: steps, validations, samples, checkpoints, metrics and what the
/// user sees, until the budget is used up, patience ends or a signal asks to stop. Of several ranks
/// the first has it, and the others follow.
class TrainingRun {
 public:
  /// The trainer has not made a step yet. The directory must outlive the run.
  TrainingRun(std::unique_ptr<Trainer> trainer, const RunDirectory& directory,
              const RunOptions& options, std::ostream& out);

  /// The exit code: 0, or 128 + N after signal N. Divergence and failing disks throw.
  int run();

 private:
  void resume();
  void begin();
  void refuse_to_begin_again() const;
  void announce();
  void set_status(const std::string& state, const std::string& reason = {},
                  const std::string& advice = {});
  void set_failed(const std::string& state, const std::string& reason,
                  const std::string& advice = {}) noexcept;
  void train_until_done();
  void log_metrics(const MetricRecord& record);
  void record_step(const Trainer::Step& step, double seconds);
  void validate();
  void show_sample();
  bool validation_is_due();
  bool patience_has_ended() const;
  bool checkpoint_is_due() const;
  void save();
  /// Scores the validation split with all ranks.
  template <class Measure>
  Validation measure(const Measure& validate, Index batches);
  void finish();
  /// Prints a result, also into the log.
  void print(const std::string& text);

  std::unique_ptr<Trainer> owned_trainer_;
  Trainer& trainer_;
  const RunDirectory& directory_;
  RunFiles files_;
  RunOptions options_;
  CheckpointStore store_;
  std::ostream& out_;
  Agreement agreement_;
  std::ofstream log_;
  Progress progress_;
  std::optional<MetricsLog> metrics_;
  std::optional<TensorboardLog> tensorboard_;

  KnownBaselines baselines_;
  Index saved_step_ = -1, validated_step_ = -1;
  bool is_measured_finally_ = false;  ///< metrics.jsonl has the last record of the run
  bool saved_too_early_ = false;      ///< the checkpoint of this step lacks its validation
  double saved_time_ = 0;
  std::optional<double> validation_, best_;
  Index without_best_ = 0;  ///< validations since the best
  std::optional<Evaluation> last_evaluation_;
  double tokens_per_s_ = 0;
};

}  // namespace weft::experiments
