#include "experiments/bench/step.h"

#include <sys/resource.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/counters.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/ranks/collectives.h"
#include "experiments/bench/product_speed.h"
#include "experiments/console/number_text.h"
#include "experiments/console/progress.h"
#include "experiments/train/rank_check.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

/// The largest resident size so far, in MB; Linux counts it in kilobytes.
double peak_resident_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024 / 1e6;
}

/// Pairs that the forward passes of one step score, counted in an evaluation of a batch: what is
/// read may depend on the data, and then the cost model knows only the most it can be. Where
/// segments continue streams, a batch by itself lacks their past, and where sequences are cut into
/// chunks no rank may have the whole; there the cost model is exact and is used instead.
Index count_scored_pairs(const Trainer& trainer) {
  if (trainer.model().recurrent() || trainer.config().train.chunks > 1)
    return trainer.scored_pairs_per_step();
  const data::Batch batch = trainer.dataset().training(0);
  const Index before = core::counters().scored_pairs;
  trainer.model().score(autograd::Pass(), {batch});
  return (core::counters().scored_pairs - before) * trainer.config().train.accumulate;
}

/// Measures how fast products are now, and keeps the best.
void measure_products(StepBenchmark& result, bool bf16) {
  for (const auto& [library, speed] : measure_float_products()) {
    double& best = result.library_gflops[library];
    best = std::max(best, speed);
    result.sgemm_gflops = std::max(result.sgemm_gflops, best);
  }
  if (bf16) result.bf16_gflops = std::max(result.bf16_gflops, measure_bf16_products());
}

}  // namespace

StepBenchmark benchmark_step(const RunConfig& config, Index steps, autograd::Profile* profile) {
  core::Ranks& ranks = core::ranks();
  core::set_threads(threads_of_rank(ranks, config.threads));
  if (const std::string text = warn_of_binding(ranks, config.threads);
      ranks.is_first() && !text.empty())
    std::cerr << "warning: " << text << '\n';
  StepBenchmark result;
  const bool bf16 = config.train.precision == core::Precision::bf16;
  measure_products(result, bf16);
  result.kernels = kernels_used(config);
  Trainer trainer(config, ranks);
  trainer.step();
  core::reset_memory_peak();
  result.step_s = 1e300;
  const core::Counters& counters = core::counters();
  const Index sent = counters.sent_bytes, messages = counters.messages;
  std::vector<Index> waited_us;
  for (Index i = 0; i < steps; ++i) {
    const double start = steady_seconds();
    const Index before = counters.waited_us;
    trainer.step(profile);
    result.step_s = std::min(result.step_s, steady_seconds() - start);
    waited_us.push_back(counters.waited_us - before);
  }
  result.ranks = ranks.count();
  result.sent = {(counters.sent_bytes - sent) / steps, (counters.messages - messages) / steps};
  std::ranges::sort(waited_us);
  result.waited_s = 1e-6 * double(waited_us[waited_us.size() / 2]);
  result.fixed_bytes = core::largest(ranks, trainer.fixed_bytes());
  result.peak_bytes = core::largest(ranks, trainer.fixed_bytes() + core::memory_use().peak);
  measure_products(result, bf16);
  result.tokens_per_s = double(trainer.tokens_per_step()) / result.step_s;
  result.scored_pairs = count_scored_pairs(trainer);
  result.useful_gflops = 1e-9 * trainer.useful_flops(result.scored_pairs) / result.step_s;
  result.utilisation = result.useful_gflops / result.sgemm_gflops;
  result.rss_mb = peak_resident_mb();
  result.params = trainer.arena().count();
  return result;
}

std::string benchmark_json(const StepBenchmark& b) {
  nlohmann::ordered_json json{{"tokens_per_s", b.tokens_per_s},
                              {"step_s", b.step_s},
                              {"sgemm_gflops", b.sgemm_gflops},
                              {"library_gflops", b.library_gflops},
                              {"bf16_gflops", b.bf16_gflops},
                              {"useful_gflops", b.useful_gflops},
                              {"utilisation", b.utilisation},
                              {"peak_bytes", b.peak_bytes},
                              {"fixed_bytes", b.fixed_bytes},
                              {"rss_mb", b.rss_mb},
                              {"params", b.params},
                              {"scored_pairs", b.scored_pairs},
                              {"ranks", b.ranks},
                              {"sent_bytes", b.sent.bytes},
                              {"messages", b.sent.messages},
                              {"waited_s", b.waited_s}};
  for (const auto& [name, value] : b.kernels) json["kernels"][name] = std::get<std::string>(value);
  return json.dump();
}

std::string print_benchmark(const StepBenchmark& b) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << format_count(b.tokens_per_s) << " tokens/s, step "
      << b.step_s * 1e3 << " ms (best)\n"
      << "useful " << b.useful_gflops << " of " << b.sgemm_gflops
      << " Gflop/s that matrix products reach: utilisation " << std::setprecision(3)
      << b.utilisation << '\n'
      << std::setprecision(1);
  for (const auto& [library, speed] : b.library_gflops)
    out << (library == b.library_gflops.begin()->first ? "" : ", ") << library << ' ' << speed;
  out << " Gflop/s; the step ran on " << describe_kernels() << '\n';
  if (b.bf16_gflops > 0)
    out << b.bf16_gflops << " Gflop/s with factors in bf16 by "
        << std::get<std::string>(b.kernels.at("bf16")) << ": " << std::setprecision(3)
        << b.useful_gflops / b.bf16_gflops << " of that\n"
        << std::setprecision(1);
  out << "peak " << double(b.peak_bytes) / 1e6
      << " MB: " << double(b.peak_bytes - b.fixed_bytes) / 1e6 << " MB of activations, "
      << double(b.fixed_bytes) / 1e6 << " MB of parameters, gradients and moments; " << b.rss_mb
      << " MB resident\n"
      << format_count(double(b.params)) << " parameters, " << format_count(double(b.scored_pairs))
      << " scored pairs a step\n";
  if (b.ranks > 1)
    out << "the first of " << b.ranks << " ranks sent " << double(b.sent.bytes) / 1e6 << " MB in "
        << b.sent.messages << " messages a step and waited " << b.waited_s * 1e3
        << " ms for those of others (median)\n";
  return out.str();
}

std::string print_profile(const autograd::Profile& profile, Index steps) {
  using Row = std::pair<autograd::Profile::Key, autograd::Profile::Entry>;
  std::vector<Row> rows(profile.entries().begin(), profile.entries().end());
  const auto seconds = [](const Row& row) { return row.second.forward_s + row.second.backward_s; };
  std::ranges::sort(rows, [&](const Row& a, const Row& b) { return seconds(a) > seconds(b); });
  std::ostringstream out;
  out << std::fixed << std::left << std::setw(28) << "layer" << std::setw(18) << "op" << std::right
      << std::setw(12) << "forward ms" << std::setw(13) << "backward ms" << std::setw(10)
      << "Gflop/s" << std::setw(10) << "kept MB" << '\n';
  const double n = double(steps);
  for (const Row& row : rows) {
    const auto& [key, entry] = row;
    out << std::left << std::setw(28) << key.first << std::setw(18) << key.second << std::right
        << std::setprecision(2) << std::setw(12) << entry.forward_s * 1e3 / n << std::setw(13)
        << entry.backward_s * 1e3 / n << std::setprecision(1) << std::setw(10)
        << 1e-9 * double(entry.flops) / seconds(row) << std::setw(10)
        << double(entry.bytes) / 1e6 / n << '\n';
  }
  return out.str();
}

}  // namespace weft::experiments
