#pragma once

#include <mutex>

#include "experiments/train/resume_check.h"
#include "experiments/train/trainer.h"
#include "tests/places.h"
#include "tests/ranks_in_threads.h"

namespace weft::experiments {

/// A small run of four sequences a batch in four shards, of a shipped config or of a text.
inline RunConfig small_shards(const std::string& source, std::vector<std::string> settings = {}) {
  std::vector<std::string> all = {"train.batch=4",       "train.shards=4", "train.steps=3",
                                  "optim.warmup=1",      "model.width=16", "model.heads=2",
                                  "train.eval_batches=2"};
  all.insert(all.end(), settings.begin(), settings.end());
  if (source.starts_with("configs/")) return RunConfig::load(source_dir() + "/" + source, all);
  return RunConfig::from_text(source, "text", all);
}

/// What the first of these ranks has after some steps.
inline Trace train_with_ranks(const RunConfig& config, core::Index ranks, core::Index steps) {
  Trace trace;
  RanksInThreads::run(ranks, [&](core::Ranks& own) {
    Trainer trainer(config, own);
    std::vector<double> losses;
    while (trainer.steps_done() < steps) losses.push_back(trainer.step().loss);
    const Snapshot snapshot = trainer.snapshot();
    if (!own.is_first()) return;
    trace.losses = losses;
    for (const ConstNamedArray& array : snapshot.arrays)
      trace.arrays.emplace_back(array.name,
                                std::vector<core::Real>(array.values.begin(), array.values.end()));
  });
  return trace;
}

/// All of three ranks end a run that diverges, and the first of them reports it.
inline void expect_divergence_on_every_rank(const RunConfig& config) {
  std::mutex mutex;
  std::vector<std::string> reasons;
  RanksInThreads::run(3, [&](core::Ranks& own) {
    Trainer trainer(config, own);
    try {
      for (core::Index i = 0; i < config.train.steps; ++i) trainer.step();
    } catch (const core::EndedTogether& error) {
      const std::lock_guard lock(mutex);
      EXPECT_EQ(error.fault(), core::Fault::diverged);
      EXPECT_EQ(error.reports(), own.is_first());
      reasons.emplace_back(error.what());
    }
  });
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_NE(reasons[0].find("is not finite"), std::string::npos) << reasons[0];
}

}  // namespace weft::experiments
