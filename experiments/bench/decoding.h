#pragma once

#include <optional>
#include <string>

#include "experiments/run/run_config.h"

namespace weft::experiments {

/// The speed at which one model generates tokens, with a batch of one.
struct DecodeSpeed {
  double tokens_per_s = 0;
  double token_s = 0;        ///< median
  double weights_read = 0;   ///< numbers of weight matrices that a token reads, on average
  double read_gb_per_s = 0;  ///< of them alone
  double bandwidth_share = 0;
  Index params = 0;
  Index param_bytes = 0;   ///< no gradients, no moments
  Index decode_bytes = 0;  ///< what the sequence keeps at its end
};

struct DecodeBenchmark {
  double bandwidth_gb_per_s = 0;  ///< at which all threads read memory in the same run
  DecodeSpeed own;
  /// The model of the same shape with dense layers in place of sparse ones; nothing when the
  /// config has none.
  std::optional<DecodeSpeed> dense;
  double speedup() const { return dense ? own.tokens_per_s / dense->tokens_per_s : 1; }
};

struct DecodeOptions {
  Index prompt = 64;
  Index tokens = 64;
};

/// Best of five passes over an array far larger than any cache, all threads reading.
double measure_read_bandwidth();

/// Decodes with random weights from a random prompt, always the likeliest token.
DecodeBenchmark benchmark_decode(const RunConfig& config, const DecodeOptions& options);

std::string print_benchmark(const DecodeBenchmark& benchmark);
std::string benchmark_json(const DecodeBenchmark& benchmark);

}  // namespace weft::experiments
