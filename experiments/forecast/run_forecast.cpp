#include "experiments/forecast/run_forecast.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "experiments/console/number_text.h"
#include "experiments/console/progress.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

using core::Real;

struct Probe {
  Index peak_bytes = 0;
  double step_s = 0;
};

/// One step to warm up, then the best of two.
Probe probe(Trainer& trainer) {
  trainer.step();
  core::reset_memory_peak();
  Probe result{.peak_bytes = 0, .step_s = std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 2; ++i) {
    const double start = steady_seconds();
    trainer.step();
    result.step_s = std::min(result.step_s, steady_seconds() - start);
  }
  result.peak_bytes = trainer.fixed_bytes() + core::memory_use().peak;
  return result;
}

Probe probe_batch(RunConfig config) {
  config.train.accumulate = 1;
  Trainer trainer(config);
  const Probe result = probe(trainer);
  core::trim_memory();
  return result;
}

Probe probe_batch(RunConfig config, Index batch) {
  config.train.batch = batch;
  return probe_batch(std::move(config));
}

/// Memory against the batch, a straight line once the batch keeps all threads busy.
struct Growth {
  Index batch = 1;       ///< the largest that was tried
  Index peak_bytes = 0;  ///< of that
  Index slope = 1;       ///< bytes for another sequence

  Index bytes_of(Index other) const { return peak_bytes + (other - batch) * slope; }
  Index largest_within(Index available) const {
    if (bytes_of(1) > available) return 0;
    return std::max<Index>(1, batch + (available - peak_bytes) / slope);
  }
};

/// Tries 1, 2, 4, ... sequences as long as the next is sure to fit; 16 are enough to see the line.
Growth probe_growth(const RunConfig& config, Index fixed, Index available) {
  Growth growth{.batch = 1, .peak_bytes = probe_batch(config, 1).peak_bytes, .slope = 1};
  growth.slope = std::max<Index>(1, growth.peak_bytes - fixed);
  while (2 * growth.batch <= std::min<Index>(config.train.batch, 16) &&
         growth.bytes_of(3 * growth.batch) <= available) {
    const Index twice = probe_batch(config, 2 * growth.batch).peak_bytes;
    const Index slope = (twice - growth.peak_bytes) / growth.batch;
    growth = {2 * growth.batch, twice, std::max<Index>(1, slope)};
  }
  return growth;
}

/// A lower bound of what a step takes: what the matrix products of the blocks must keep.
double least_bytes(const RunConfig& config, Index batch) {
  if (config.model.reversible || config.train.recompute) return 0;
  const Index layers = config.model.layers - config.train.recomputed;
  return 4.0 * double(sizeof(Real)) * double(layers) * double(config.model.width) * double(batch) *
         double(config.data.length);
}

void describe(const RunConfig& config, RunForecast& forecast) {
  RunConfig one = config;
  one.train.batch = one.train.accumulate = 1;
  Trainer trainer(one);
  const double tokens = double(trainer.tokens_per_step());
  forecast.parameters = trainer.arena().count();
  forecast.fixed_bytes = trainer.fixed_bytes();
  const Index array_bytes = trainer.arena().size() * Index(sizeof(Real));
  forecast.weight_bytes = 2 * array_bytes + trainer.arena().rounded_bytes();
  forecast.moment_bytes = forecast.fixed_bytes - forecast.weight_bytes;
  forecast.moments = forecast.moment_bytes / array_bytes;
  forecast.dense_numbers = trainer.arena().dense_size();
  const core::ChunkCut cut{config.data.length, config.train.chunks};
  for (Index from = 0; from < cut.count; ++from)
    for (Index to = 0; to < cut.count; ++to)
      forecast.between_chunks.push_back(
          trainer.model().chunk_traffic(cut, config.train.batch, from, to));
  forecast.flops_per_token = trainer.useful_flops_per_step() / tokens;
  forecast.keys_per_token = double(trainer.scored_pairs_per_step()) /
                            (tokens * double(config.model.layers * config.model.heads));
}

}  // namespace

double RunForecast::tokens_per_s(const RunConfig& config) const {
  return step_s > 0
             ? double(config.train.batch * config.train.accumulate * config.data.length) / step_s
             : 0;
}

namespace {

/// The shards of a step follow one another: one is in memory at a time, with unfinished sums.
RunForecast of_shards(const RunConfig& config, Index available, bool whole) {
  const Index shards = config.train.shards;
  RunConfig one = config;
  one.train.batch /= shards;
  one.train.shards = 1;
  Index sums = 0;
  for (Index reach = 2; reach <= shards; reach *= 2) ++sums;
  RunForecast forecast = forecast_run(one, available, false);
  const Index pending = sums * forecast.parameters * Index(sizeof(Real));
  forecast.fixed_bytes += pending;
  forecast.peak_bytes += pending;
  forecast.fits = forecast.peak_bytes <= available;
  forecast.largest_batch *= shards;
  if (!forecast.fits || !whole) return forecast;
  const Probe all = probe_batch(config);
  forecast.peak_bytes = all.peak_bytes;
  forecast.step_s = all.step_s * double(config.train.accumulate);
  forecast.measured = true;
  return forecast;
}

}  // namespace

RunForecast forecast_run(const RunConfig& config, Index available, bool whole) {
  if (config.train.shards > 1) return of_shards(config, available, whole);
  core::set_threads(config.threads);
  RunForecast forecast;
  const Index batch = config.train.batch;
  if (least_bytes(config, 1) > double(available)) {
    forecast.fits = false;
    forecast.peak_bytes = Index(least_bytes(config, batch));
    return forecast;
  }
  describe(config, forecast);
  const Growth growth = probe_growth(config, forecast.fixed_bytes, available);
  forecast.peak_bytes = growth.bytes_of(batch);
  forecast.fits = forecast.peak_bytes <= available;
  forecast.largest_batch = growth.largest_within(available);
  if (!forecast.fits || !whole) return forecast;
  const Probe all = probe_batch(config, batch);
  forecast.peak_bytes = all.peak_bytes;
  forecast.step_s = all.step_s * double(config.train.accumulate);
  forecast.measured = true;
  return forecast;
}

Index step_bytes(const RunConfig& config) { return probe_batch(config).peak_bytes; }

double rough_bytes(const RunConfig& config) {
  const double tokens = double(config.train.batch) * double(config.data.length);
  const double width = double(config.model.width + config.model.hidden());
  return double(sizeof(Real)) * (tokens * width * (12.0 * double(config.model.layers) + 8) +
                                 48 * width * width * double(config.model.layers));
}

void require_fit(const RunConfig& config, Index available) {
  if (rough_bytes(config) < 0.5 * double(available)) return;
  const RunForecast forecast = forecast_run(config, available, false);
  if (forecast.fits) return;
  std::string advice = forecast.largest_batch > 0
                           ? "train.batch=" + std::to_string(forecast.largest_batch) + " fits"
                           : "not even one sequence fits: lower data.length";
  if (!config.model.reversible && !config.train.recompute)
    advice += ", or set train.recompute=true";
  throw core::Error("a training step takes about " + format_mib(double(forecast.peak_bytes)) +
                    " MiB, but only " + format_mib(double(available)) + " MiB are free; " + advice +
                    "; --force starts it all the same");
}

}  // namespace weft::experiments
