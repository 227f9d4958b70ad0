#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/parameter_arena.h"
#include "autograd/profile.h"
#include "data/prefetch.h"
#include "experiments/checkpoint/checkpoint.h"
#include "experiments/run/run_config.h"
#include "layers/model/model.h"
#include "optim/take_step.h"

namespace weft::experiments {

/// A model being trained, from one optimizer step to the next: everything that a checkpoint holds
/// and nothing that it does not.
class Trainer {
 public:
  explicit Trainer(const RunConfig& config);
  /// With data that was made from the same config.
  Trainer(const RunConfig& config, std::unique_ptr<data::Dataset> dataset);

  struct Step {
    double loss = 0;  ///< nats, mean over the step's targets, before the update
    optim::StepReport report;
  };
  /// One optimizer step. A loss or gradient that is not finite changes nothing and throws an Error
  /// (Fault::diverged) that names the first op and layer to make it. Between micro-batches it calls
  /// `poll`, which may throw to give the step up: nothing has then changed.
  Step step(autograd::Profile* profile = nullptr, const std::function<void()>& poll = {});

  Index steps_done() const { return step_; }
  /// From the budget; a budget in minutes is turned into steps by timing a few first.
  Index total_steps();
  Index tokens_per_step() const;
  /// Of a step that scores this many pairs: 6 x matrix weights x rows + 12 x head width x pairs.
  double useful_flops(Index scored_pairs) const;
  /// By the cost model.
  double useful_flops_per_step() const { return useful_flops(scored_pairs_per_step()); }
  Index scored_pairs_per_step() const;
  /// Parameters, gradients and moments.
  Index fixed_bytes() const;

  /// Views of all that a resumed run needs; valid until the next step.
  Snapshot snapshot();
  void restore(const Checkpoint& checkpoint);
  /// Parameters and states only, for starting from another run's model.
  void restore_model(const Checkpoint& checkpoint);

  /// Parameters and states, under the names that a checkpoint gives them.
  std::vector<ArrayTarget> model_arrays();

  const RunConfig& config() const { return config_; }
  const data::Dataset& dataset() const { return *dataset_; }
  const layers::Model& model() const { return *model_; }
  /// What the parts of the model report of the last step.
  std::vector<autograd::Metric> metrics() const { return inventory_.metrics(); }
  autograd::ParameterArena& arena() { return *arena_; }

 private:
  double run_micro_batch(Index number, const data::Batch& batch, autograd::Journal& journal,
                         layers::StreamMemory& memory, const autograd::TapeOptions& options) const;
  [[noreturn]] void explain_divergence(const char* what) const;
  std::vector<ArrayTarget> moment_arrays();
  std::vector<ArrayTarget> memory_arrays();

  RunConfig config_;
  std::unique_ptr<data::Dataset> dataset_;
  std::unique_ptr<layers::Model> model_;
  autograd::Inventory inventory_;
  std::unique_ptr<autograd::ParameterArena> arena_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<data::Prefetch> prefetch_;
  layers::StreamMemory memory_;  ///< of a recurrent model's streams
  Index step_ = 0;
  Index total_steps_ = 0;  ///< 0 until known
};

}  // namespace weft::experiments
