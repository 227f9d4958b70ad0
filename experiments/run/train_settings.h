#pragma once

#include <string>

#include "core/fields.h"
#include "core/precision.h"
#include "core/ranks/chunk_cut.h"

namespace weft::experiments {

using core::Index;

/// "500" means steps, "10 minutes" minutes of wall-clock time, "0" never.
struct Period {
  Index steps = 0;
  double minutes = 0;

  bool never() const { return steps == 0 && minutes == 0; }
};

/// The [train] section: how long, how much at a time, and what is kept. Exactly one budget holds.
struct TrainSettings {
  Index steps = 0;     ///< optimizer steps; 1000 when no budget is given
  Index tokens = 0;    ///< tokens read
  double flops = 0;    ///< useful arithmetic by the cost model
  double minutes = 0;  ///< time, turned into steps by a probe before the first one
  Index batch = 16;
  Index accumulate = 1;
  Index shards = 1;  ///< parts that the batch is cut into by rows
  Index chunks = 1;  ///< parts that its sequences are cut into by columns
  Index eval_every = 0;
  Index eval_batches = 0;
  Index patience = 0;
  std::string checkpoint_every = "10 minutes";
  Index keep_last = 2;
  Index keep_best = 1;
  bool recompute = false;
  std::string memory;    ///< that a step may take, such as "4GB"; empty: no limit
  Index recomputed = 0;  ///< layers, chosen for `memory` before the first step; no setting
  core::Precision precision = core::Precision::float32;
  bool tensorboard = false;

  void fields(core::Fields& field);
  /// What processes share out.
  core::ChunkUnits units() const { return {shards, chunks}; }
  Period checkpoint_period() const;
  Index memory_bytes() const;  ///< 0 where there is no limit
};

/// The [sample] section: text that the model writes while it trains.
struct SampleSettings {
  Index tokens = 0;
  std::string prompt;
  double temperature = 0.8;
  Index top_k = 0;
  bool at_evaluations = false;

  void fields(core::Fields& field);
};

}  // namespace weft::experiments
