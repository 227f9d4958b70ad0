#include "experiments/forecast/ranks_forecast.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"

namespace weft::experiments {

using core::Real;

namespace {

constexpr Index real_bytes = Index(sizeof(Real));

/// How many arrays hold unfinished sums while a rank goes through its shards.
Index pending_arrays(core::Stretch shards) {
  std::size_t most = 0;
  for (Index next = shards.begin; next < shards.end; ++next)
    most = std::max(most, core::parts_of({shards.begin, next}).size());
  return Index(most);
}

/// The most chunks of one row shard among a rank's units: their activations exist together.
Index most_together(const core::ChunkUnits& units, core::Stretch own) {
  Index most = 0;
  const core::Stretch shards = units.shards_of(own);
  for (Index shard = shards.begin; shard < shards.end; ++shard)
    most = std::max(most, units.units_in(shard, own).size());
  return most;
}

}  // namespace

double network_rate(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const double factor = unit == "Gbit" || unit == "gbit"   ? 1e9
                        : unit == "Mbit" || unit == "mbit" ? 1e6
                                                           : 0;
  if (error != std::errc() || !(number * factor > 0) || !std::isfinite(number * factor))
    throw core::Error(core::Fault::usage, "\"" + text + "\" is no rate of a network",
                      "Write it as 1Gbit, 25Gbit or 100Mbit");
  return number * factor;
}

RanksForecast forecast_ranks(const RunConfig& config, const RunForecast& alone, Index ranks,
                             double bits_per_s) {
  const core::ChunkUnits units = config.train.units();
  const Index shards = units.count();
  if (ranks < 1 || ranks > shards)
    throw core::Error(core::Fault::usage,
                      core::message_of(ranks, " ranks cannot share ", shards,
                                       units.chunks > 1 ? " chunk" : " shard",
                                       shards == 1 ? "" : "s", " of the batch"),
                      core::message_of("Set train.shards=", std::max<Index>(ranks, 1),
                                       " or a multiple that divides train.batch"));
  const core::Slices slices(alone.dense_numbers, ranks);
  const Index dense_bytes = alone.dense_numbers * real_bytes;
  RanksForecast forecast;
  for (Index r = 0; r < ranks; ++r) {
    core::Traffic sent = core::traffic_of_step(slices, r, shards, config.train.accumulate);
    if (!alone.between_chunks.empty())
      sent += core::traffic_of_chunks(units, r, ranks, alone.between_chunks);
    if (sent.bytes > forecast.traffic.bytes) forecast.traffic = sent;
    const core::Stretch own = core::shards_of(r, ranks, shards);
    forecast.shards = std::max(forecast.shards, own.size());
    const Index owned = slices.count(r), others_own = alone.dense_numbers - owned;
    const Index kept = alone.weight_bytes + alone.moment_bytes + pending_arrays(own) * dense_bytes -
                       alone.moments * others_own * real_bytes;
    forecast.kept_bytes = std::max(forecast.kept_bytes, kept);
    // While it waits for others, a rank has room for their parts of what it owns.
    Index parts = 0;
    for (Index other = 0; other < ranks; ++other)
      if (other != r) parts += Index(core::parts_of(core::shards_of(other, ranks, shards)).size());
    const Index received = parts * owned * real_bytes;
    const Index activations =
        (alone.peak_bytes - alone.fixed_bytes) * most_together(units, own) / units.chunks;
    forecast.peak_bytes = std::max(forecast.peak_bytes, kept + activations + received);
  }
  forecast.tokens = forecast.shards * (config.train.batch / units.shards) *
                    config.train.accumulate * config.data.length / units.chunks;
  forecast.exchange_s = 8 * double(forecast.traffic.bytes) / bits_per_s;
  forecast.arithmetic_s = alone.step_s * double(forecast.shards) / double(shards);
  return forecast;
}

}  // namespace weft::experiments
