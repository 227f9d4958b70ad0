#pragma once

#include <string>
#include <vector>

#include "experiments/bench/step.h"
#include "experiments/config/variations.h"

namespace weft::experiments {

/// One variant of a config at several lengths.
struct LengthBenchmark {
  std::string name;
  std::vector<Index> lengths;
  std::vector<StepBenchmark> steps;  ///< one for each length
  /// The fitted powers of the length: of the time to train on a sequence, and of the activations.
  double time_exponent = 0, memory_exponent = 0;
};

/// "1k,2k,4096" as numbers; an Error names what is none.
std::vector<Index> lengths_of(const std::string& text);

/// Times steps of every variant at every length, the batch as the config has it.
std::vector<LengthBenchmark> benchmark_lengths(const std::string& config,
                                               const std::vector<std::string>& overrides,
                                               const std::vector<Variant>& variants,
                                               const std::vector<Index>& lengths, Index steps);

std::string print_lengths(const std::vector<LengthBenchmark>& benchmarks);
std::string lengths_json(const std::vector<LengthBenchmark>& benchmarks);

}  // namespace weft::experiments
