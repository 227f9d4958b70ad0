#pragma once

#include <string>

#include "core/ranks/traffic.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {

/// Time and memory of a run, estimated by training one or two of its steps.
struct RunForecast {
  Index parameters = 0;
  double flops_per_token = 0;  ///< useful, by the cost model
  double keys_per_token = 0;   ///< read by each head of each layer
  Index fixed_bytes = 0;       ///< parameters, gradients, moments and unfinished sums
  Index weight_bytes = 0;      ///< of those the parameters and gradients
  Index moment_bytes = 0;      ///< and the moments
  Index moments = 0;           ///< how many for each parameter
  Index dense_numbers = 0;     ///< of the flat arrays that several processes share out
  /// What each chunk of a row shard sends each of the others in a step, [chunks, chunks].
  std::vector<core::Traffic> between_chunks;
  Index peak_bytes = 0;   ///< of a training step, all included
  double step_s = 0;      ///< 0 when it was not measured since it does not fit
  bool measured = false;  ///< else predicted from smaller batches
  bool fits = true;
  Index largest_batch = 0;  ///< that fits; 0 when not even one sequence does

  double tokens_per_s(const RunConfig& config) const;
};

/// Predicts the memory of a whole batch by training steps on a few sequences. Where that fits, and
/// with `whole`, a step of the whole batch is then measured.
RunForecast forecast_run(const RunConfig& config, Index available, bool whole = true);

/// Bytes that a training step takes at its peak, measured by training a few of them.
Index step_bytes(const RunConfig& config);

/// An upper bound of the same for small models; a run above it is worth a closer look.
double rough_bytes(const RunConfig& config);

/// Throws an Error that says what to change when a run cannot fit. Costs nothing for runs that are
/// small compared with the memory there is.
void require_fit(const RunConfig& config, Index available);

}  // namespace weft::experiments
