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
#include "experiments/train/shard_terms.h"
#include "layers/model/model.h"
#include "optim/exchange.h"
#include "optim/take_step.h"

namespace weft::experiments {

/// A model being trained, from one optimizer step to the next: everything that a checkpoint holds
/// and nothing that it does not. The batch is cut by rows into train.shards, and each of these by
/// columns into train.chunks; several ranks share these units out, and what is said to be done by
/// all ranks must be called by each of them.
class Trainer {
 public:
  explicit Trainer(const RunConfig& config, core::Ranks& ranks = core::one_rank());
  /// With data that was made from the same config.
  Trainer(const RunConfig& config, std::unique_ptr<data::Dataset> dataset,
          core::Ranks& ranks = core::one_rank());

  struct Step {
    double loss = 0;  ///< nats, mean over the step's targets, before the update
    optim::StepReport report;
  };
  /// One optimizer step, by all ranks. A loss or gradient that is not finite changes nothing and
  /// throws an Error (Fault::diverged) that names the first op and layer to make it. Before each
  /// micro-batch is read and trained on it calls `poll`, which may throw to give the step up where
  /// there is one rank: nothing has then changed.
  Step step(autograd::Profile* profile = nullptr, const std::function<void()>& poll = {});

  Index steps_done() const { return step_; }
  /// From the budget; a budget in minutes is turned into steps by timing a few first, by all ranks.
  Index total_steps();
  Index tokens_per_step() const;
  /// Of a step that scores this many pairs: 6 x matrix weights x rows + 12 x head width x pairs.
  double useful_flops(Index scored_pairs) const;
  /// By the cost model.
  double useful_flops_per_step() const { return useful_flops(scored_pairs_per_step()); }
  Index scored_pairs_per_step() const;
  /// Parameters, gradients and moments.
  Index fixed_bytes() const;

  /// Views of all that a resumed run needs; valid until the next step. By all ranks; the first
  /// one's is whole.
  Snapshot snapshot();
  /// By the first rank, while the others `receive`.
  void restore(const Checkpoint& checkpoint);
  /// Parameters and states only, for starting from another run's model.
  void restore_model(const Checkpoint& checkpoint);
  void receive() { send_state(); }

  /// Parameters and states, under the names that a checkpoint gives them.
  std::vector<NamedArray> model_arrays();

  core::Ranks& ranks() const { return ranks_; }
  const RunConfig& config() const { return config_; }
  const data::Dataset& dataset() const { return *dataset_; }
  const layers::Model& model() const { return *model_; }
  /// What the parts of the model report of the last step.
  std::vector<autograd::Metric> metrics() const { return inventory_.metrics(); }
  autograd::ParameterArena& arena() { return *arena_; }

 private:
  /// What a unit reads in one micro-batch.
  struct Portion {
    Index number;  ///< of the micro-batch
    data::Batch batch;
    Index counted;  ///< targets of the whole micro-batch
  };
  /// The micro-batches of a step, cut into the units of this rank: [unit][micro-batch].
  using Portions = std::vector<std::vector<Portion>>;

  Index shards() const { return config_.train.shards; }
  core::ChunkUnits units() const { return config_.train.units(); }
  core::ChunkCut columns() const { return {config_.data.length, config_.train.chunks}; }
  core::Stretch rows() const;
  data::Batch part_of(const data::Batch& batch, Index unit) const;
  Portions cut(const std::vector<data::Batch>& batches) const;
  autograd::Var record_loss(Index unit, const Portion& portion, autograd::Tape& tape,
                            autograd::Journal& journal, layers::StreamMemory& memory,
                            core::ChunkLink* link) const;
  double run_micro_batch(Index unit, const Portion& portion, autograd::Journal& journal,
                         layers::StreamMemory& memory, const autograd::TapeOptions& options) const;
  autograd::TapeOptions options_of(bool last, autograd::Profile* profile);
  void take_term(Index unit, double loss, const autograd::Journal& journal);
  void run_shard(Index shard, const std::vector<Portion>& portions, layers::StreamMemory& memory,
                 autograd::Profile* profile, const std::function<void()>& poll);
  void run_chunks(Index shard, const Portions& portions, autograd::Profile* profile,
                  const std::function<void()>& poll);
  [[noreturn]] void explain_divergence(const char* what) const;
  double seconds_of_micro_batch();
  void send_state();
  void join_memory();
  void require_equal_values();
  /// The moments as a checkpoint has them; of several ranks the first has them, gathered.
  std::vector<NamedArray> moment_arrays();
  std::vector<NamedArray> memory_arrays();

  core::Ranks& ranks_;
  RunConfig config_;
  std::unique_ptr<data::Dataset> dataset_;
  std::unique_ptr<layers::Model> model_;
  autograd::Inventory inventory_;
  std::unique_ptr<autograd::ParameterArena> arena_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<data::Prefetch> prefetch_;
  core::Stretch own_;  ///< this rank's units
  core::Slices slices_;
  core::TreeSum tree_;
  std::unique_ptr<optim::Exchange> exchange_;
  std::unique_ptr<ShardTerms> terms_;
  core::ChunkLink link_;
  std::vector<std::vector<Real>> gathered_moments_;
  std::vector<layers::StreamMemory> memory_;  ///< of a recurrent model's streams, for each shard
  layers::StreamMemory joined_memory_;        ///< of all ranks
  Index step_ = 0;
  Index total_steps_ = 0;  ///< 0 until known
};

}  // namespace weft::experiments
