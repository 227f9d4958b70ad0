#include "experiments/train/resume_check.h"

#include <cstring>

#include "core/parallel.h"
#include "experiments/checkpoint/store.h"
#include "experiments/train/rank_check.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

void advance(Trainer& trainer, Index until, Trace& trace) {
  while (trainer.steps_done() < until) trace.losses.push_back(trainer.step().loss);
}

void keep_arrays(Trainer& trainer, Trace& trace) {
  for (const ConstNamedArray& array : trainer.snapshot().arrays)
    trace.arrays.emplace_back(array.name,
                              std::vector<core::Real>(array.values.begin(), array.values.end()));
}

template <class Number>
bool same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
}

}  // namespace

RunConfig with_counted_steps(RunConfig config) {
  core::set_threads(threads_of_rank(core::ranks(), config.threads));
  config.train.steps = Trainer(config, core::ranks()).total_steps();
  config.train.tokens = 0;
  config.train.flops = config.train.minutes = 0;
  return config;
}

Trace train_straight(const RunConfig& config, Index steps) {
  Trace trace;
  Trainer trainer(config, core::ranks());
  advance(trainer, steps, trace);
  keep_arrays(trainer, trace);
  return trace;
}

Trace train_interrupted(const RunConfig& config, Index at, Index steps,
                        const std::string& directory) {
  Trace trace;
  core::Ranks& ranks = core::ranks();
  CheckpointStore store(directory, 1, 0);
  {
    Trainer first(config, ranks);
    advance(first, at, trace);
    const Snapshot snapshot = first.snapshot();
    if (ranks.is_first()) store.save(snapshot);
  }
  Trainer second(config, ranks);
  std::vector<std::string> warnings;
  if (ranks.is_first())
    second.restore(store.load_last(warnings));
  else
    second.receive();
  advance(second, steps, trace);
  keep_arrays(second, trace);
  return trace;
}

std::vector<std::string> differences(const Trace& a, const Trace& b) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < std::min(a.losses.size(), b.losses.size()); ++i)
    if (a.losses[i] != b.losses[i]) {
      found.push_back("losses, first at step " + std::to_string(i));
      break;
    }
  if (a.losses.size() != b.losses.size()) found.emplace_back("the number of steps");
  if (a.arrays.size() != b.arrays.size()) found.emplace_back("the number of arrays");
  for (std::size_t i = 0; i < std::min(a.arrays.size(), b.arrays.size()); ++i)
    if (a.arrays[i].first != b.arrays[i].first ||
        !same_bits(a.arrays[i].second, b.arrays[i].second))
      found.push_back(a.arrays[i].first);
  return found;
}

}  // namespace weft::experiments
