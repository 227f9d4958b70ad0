#include "experiments/bench/decoding.h"

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "autograd/parameter_arena.h"
#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "experiments/console/number_text.h"
#include "experiments/console/progress.h"
#include "experiments/evaluate/generation.h"
#include "layers/model/language_model.h"

namespace weft::experiments {
namespace {

/// Reads every word once, into sums that do not wait for each other.
std::uint64_t read_words(const std::uint64_t* words, Index count) {
  constexpr Index lanes = 32;
  std::uint64_t sums[lanes] = {};
  for (Index i = 0; i + lanes <= count; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] ^= words[i + lane];
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all ^= sum;
  return all;
}

bool has_sparse_parts(const RunConfig& config) {
  for (const auto& [name, groups] : config.attention)
    for (const layers::HeadGroupPlan& group : groups)
      if (group.projection.sparse()) return true;
  return config.model.uses(layers::FeedForwardKind::sparse) ||
         config.model.output == layers::OutputKind::sparse;
}

/// The same shape, every matrix dense.
RunConfig dense_twin(RunConfig config) {
  config.model.feedforward = {layers::FeedForwardKind::dense};
  config.model.output = layers::OutputKind::dense;
  for (auto& [name, groups] : config.attention)
    for (layers::HeadGroupPlan& group : groups) group.projection = {};
  return config;
}

DecodeSpeed measure(const RunConfig& config, const DecodeOptions& options) {
  core::require(config.model.task == layers::Task::language,
                "bench decode: this needs a model that predicts tokens, model.task = \"language\"");
  const auto dataset = config.data.plan.make(config.train.batch, std::uint64_t(config.seed));
  layers::LanguageModel model(config.model, config.attention, dataset->vocabulary(),
                              config.data.length);
  autograd::Inventory inventory;
  model.visit(inventory);
  autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::inference);
  arena.initialise(core::Rng(std::uint64_t(config.seed)).fold("parameters"));

  auto states = model.begin();
  const core::Rng stream = core::Rng(std::uint64_t(config.seed)).fold("prompt");
  core::Tensor logits;
  for (Index i = 0; i < options.prompt; ++i)
    logits = model.step(states, core::Token(stream.below(std::uint64_t(i), model.vocabulary())));
  std::vector<double> times;
  const Index before = core::counters().weight_bytes;
  for (Index i = 0; i < options.tokens; ++i) {
    const double start = steady_seconds();
    logits = model.step(states, draw_token(logits, {.temperature = 0}, stream, 0));
    times.push_back(steady_seconds() - start);
  }
  const double bytes = double(core::counters().weight_bytes - before) / double(options.tokens);
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / double(options.tokens);
  std::ranges::sort(times);
  DecodeSpeed speed;
  speed.tokens_per_s = 1 / mean;
  speed.token_s = times[times.size() / 2];
  speed.weights_read = bytes / double(sizeof(core::Real));
  speed.read_gb_per_s = 1e-9 * bytes / mean;
  speed.params = arena.count();
  speed.param_bytes = arena.size() * Index(sizeof(core::Real));
  speed.decode_bytes = states.bytes();
  return speed;
}

nlohmann::ordered_json json_of(const DecodeSpeed& s) {
  return {{"tokens_per_s", s.tokens_per_s},       {"token_s", s.token_s},
          {"weights_read", s.weights_read},       {"read_gb_per_s", s.read_gb_per_s},
          {"bandwidth_share", s.bandwidth_share}, {"params", s.params},
          {"param_bytes", s.param_bytes},         {"decode_bytes", s.decode_bytes}};
}

void print(std::ostream& out, const std::string& name, const DecodeSpeed& s) {
  out << std::setprecision(2) << std::left << std::setw(8) << name << std::right << s.tokens_per_s
      << " tokens/s, " << format_count(s.weights_read) << " weights a token, " << s.read_gb_per_s
      << " GB/s of them, " << s.bandwidth_share << " of the bandwidth; "
      << format_count(double(s.params)) << " parameters\n";
}

}  // namespace

double measure_read_bandwidth() {
  constexpr Index words = Index(1) << 25;  // 256 MB
  constexpr Index piece = Index(1) << 17;
  std::vector<std::uint64_t> memory(std::size_t(words), 1);
  std::atomic<std::uint64_t> seen{0};
  double best = 1e300;
  for (int round = 0; round < 5; ++round) {
    const double start = steady_seconds();
    core::parallel_for(words, piece, [&](Index begin, Index end) {
      seen.fetch_xor(read_words(memory.data() + begin, end - begin), std::memory_order_relaxed);
    });
    best = std::min(best, steady_seconds() - start);
  }
  return 1e-9 * double(words) * double(sizeof(std::uint64_t)) / best;
}

DecodeBenchmark benchmark_decode(const RunConfig& config, const DecodeOptions& options) {
  core::require(config.model.causal,
                "weft bench decode: a bidirectional model generates no "
                "text; set model.causal = true");
  core::require(options.prompt >= 1 && options.tokens >= 1,
                "weft bench decode: needs a prompt and a token at least");
  core::set_threads(config.threads);
  DecodeBenchmark result;
  result.bandwidth_gb_per_s = measure_read_bandwidth();
  if (has_sparse_parts(config)) result.dense = measure(dense_twin(config), options);
  result.own = measure(config, options);
  // A busy machine gives less at one time than at another: the most that it gave counts.
  result.bandwidth_gb_per_s = std::max(result.bandwidth_gb_per_s, measure_read_bandwidth());
  result.own.bandwidth_share = result.own.read_gb_per_s / result.bandwidth_gb_per_s;
  if (result.dense)
    result.dense->bandwidth_share = result.dense->read_gb_per_s / result.bandwidth_gb_per_s;
  return result;
}

std::string benchmark_json(const DecodeBenchmark& b) {
  nlohmann::ordered_json json = json_of(b.own);
  json["bandwidth_gb_per_s"] = b.bandwidth_gb_per_s;
  if (b.dense) json["dense"] = json_of(*b.dense);
  json["speedup"] = b.speedup();
  return json.dump();
}

std::string print_benchmark(const DecodeBenchmark& b) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2);
  print(out, b.dense ? "sparse" : "model", b.own);
  if (b.dense) print(out, "dense", *b.dense);
  out << "memory gives " << b.bandwidth_gb_per_s << " GB/s to all threads";
  if (b.dense) out << "; " << b.speedup() << " times as fast as dense";
  out << '\n';
  return out.str();
}

}  // namespace weft::experiments
