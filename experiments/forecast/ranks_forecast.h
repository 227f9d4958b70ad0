#pragma once

#include <string>

#include "core/ranks/traffic.h"
#include "experiments/forecast/run_forecast.h"

namespace weft::experiments {

/// Bits a second that a rank can send, from "1Gbit", "25Gbit" or "100Mbit".
double network_rate(const std::string& text);

/// A step shared by several ranks, one to a machine like this one: worked out from a step that one
/// process has made.
struct RanksForecast {
  Index shards = 0;         ///< or chunks of them, of the rank that has most
  Index tokens = 0;         ///< the same
  core::Traffic traffic;    ///< of the rank that sends most, in a step
  Index kept_bytes = 0;     ///< parameters, gradients, own moments, unfinished sums
  Index peak_bytes = 0;     ///< of the rank that keeps most, activations included
  double exchange_s = 0;    ///< the bytes by the rate, without latency
  double arithmetic_s = 0;  ///< 0 where no step was measured

  /// The share of the time that computes if the exchange waits for the arithmetic, and if it runs
  /// beside it.
  double least_efficiency() const { return arithmetic_s / (arithmetic_s + exchange_s); }
  double best_efficiency() const { return arithmetic_s / std::max(arithmetic_s, exchange_s); }
};

RanksForecast forecast_ranks(const RunConfig& config, const RunForecast& alone, Index ranks,
                             double bits_per_s);

}  // namespace weft::experiments
