#pragma once

#include <map>
#include <string>

#include "autograd/profile.h"
#include "core/ranks/traffic.h"
#include "experiments/run/run_config.h"
#include "experiments/train/kernels_used.h"

namespace weft::experiments {

/// What one training step takes. utilisation = useful arithmetic per second over the rate at which
/// as many concurrent matrix products as threads run in the same minute, by the fastest library.
struct StepBenchmark {
  double tokens_per_s = 0;
  double step_s = 0;                             ///< best of several
  double sgemm_gflops = 0;                       ///< all threads
  std::map<std::string, double> library_gflops;  ///< the same by library: sgemm is the best
  double bf16_gflops = 0;    ///< the same of factors in bf16; 0 for a run in float32
  double useful_gflops = 0;  ///< per second
  double utilisation = 0;
  Facts kernels;  ///< that the step used, as a run records them
  /// The largest at any time of a step: fixed bytes and activations; of the rank that takes most.
  Index peak_bytes = 0;
  Index fixed_bytes = 0;  ///< parameters, gradients, moments
  double rss_mb = 0;      ///< largest resident size of the process
  Index params = 0;
  Index scored_pairs = 0;  ///< per step
  Index ranks = 1;
  core::Traffic sent;   ///< by the first rank in a step
  double waited_s = 0;  ///< by it in a step for messages, in the median
};

/// Trains `steps` steps of the config after one to warm up.
StepBenchmark benchmark_step(const RunConfig& config, Index steps, autograd::Profile* profile);

std::string print_benchmark(const StepBenchmark& benchmark);
std::string benchmark_json(const StepBenchmark& benchmark);
/// Time, Gflop/s and bytes by layer and op, costliest first.
std::string print_profile(const autograd::Profile& profile, Index steps);

}  // namespace weft::experiments
