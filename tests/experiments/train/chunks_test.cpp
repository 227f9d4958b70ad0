// Sequences cut into chunks that ranks, here threads, share: the bits are those of one rank, the
// gradients those of whole sequences, and a rank holds the activations of its own chunks alone.
#include <map>
#include <mutex>
#include <set>

#include "core/counters.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/ranks/traffic.h"
#include "experiments/checkpoint/store.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/forecast/ranks_forecast.h"
#include "experiments/train/run_model.h"
#include "experiments/train/validation.h"
#include "layers/attention/registry.h"
#include "tests/data/batch_equality.h"
#include "tests/experiments/train/rank_traces.h"
#include "tests/fresh_directory.h"

namespace weft::experiments::chunks_test {
namespace {

const std::string text = "[data]\nlength = 64\nheld_out = 8\n[model]\nlayers = 2\n";

RunConfig in_chunks(std::vector<std::string> settings = {}) {
  std::vector<std::string> all = {"train.batch=2", "train.shards=1", "train.chunks=4"};
  all.insert(all.end(), settings.begin(), settings.end());
  return small_shards(text, all);
}

struct Case {
  std::string name;
  std::vector<std::string> settings = {};
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> parts_of_training() {
  const std::string local = "model.attention=local", linear = "model.attention=linear";
  return {
      {"dense"},
      {"band", {local, "attention.local.window=9"}},
      {"band_over_chunks", {local, "attention.local.window=40", "model.positions=rotary"}},
      {"first_tokens", {local, "attention.local.window=9", "attention.local.first=2"}},
      {"block", {local, "attention.local.form=block", "attention.local.block=8"}},
      {"block_across_cuts", {local, "attention.local.form=block", "attention.local.block=24"}},
      {"linear", {linear, "attention.linear.chunk=8"}},
      {"alternating", {"model.attention=[\"local\",\"linear\"]", "attention.local.window=9"}},
      {"strided", {"model.attention=strided", "attention.strided.stride=7"}},
      {"taylor", {"model.attention=taylor", "model.reversible=true"}},
      {"performer",
       {"model.attention=performer", "attention.performer.redraw=1", "train.recompute=true"}},
      {"spans",
       {"model.attention=[\"fixed_span\",\"dynamic_span\"]", "attention.fixed_span.span=9",
        "attention.dynamic_span.span=24", "attention.dynamic_span.ramp=4", "model.positions=none",
        "train.recompute=true"}},
      {"adaptive_span",
       {"model.attention=adaptive_span", "attention.adaptive_span.span=40",
        "attention.adaptive_span.ramp=8", "model.positions=none"}},
      {"sinusoidal", {"model.positions=sinusoidal"}},
      {"shared_keys", {"model.positions=none", "attention.dense.kv_heads=1"}},
      {"rms", {linear, "model.norm=rms", "model.positions=none"}},
      {"dropout", {local, "attention.local.window=9", "model.dropout=0.2"}},
      {"recompute",
       {"model.attention=[\"local\",\"linear\"]", "attention.local.window=9",
        "train.recompute=true", "model.dropout=0.1"}},
      {"reversible",
       {"model.attention=[\"local\",\"linear\"]", "attention.local.window=9",
        "model.reversible=true", "model.dropout=0.1"}},
      {"reversible_dense", {"model.reversible=true"}},
      {"pieces", {linear, "model.ff_chunk=16", "model.loss_chunk=8"}},
      {"bf16", {local, "attention.local.window=9", "train.precision=bf16"}},
      {"several_buckets", {local, "attention.local.window=9", "model.width=256"}},
      {"rows_and_columns", {local, "attention.local.window=9", "train.shards=2"}},
      {"rows_and_columns_linear", {linear, "train.shards=2", "train.chunks=2"}},
  };
}

class Chunks : public testing::TestWithParam<Case> {};

TEST_P(Chunks, any_number_of_ranks_and_threads_trains_the_same_bits) {
  const RunConfig config = in_chunks(GetParam().settings);
  core::set_threads(1);
  const Trace one = train_with_ranks(config, 1, 3);
  for (const Index ranks : {1, 2, 3, 4}) {
    core::set_threads(1 + ranks % 2);
    EXPECT_EQ(differences(one, train_with_ranks(config, ranks, 3)), std::vector<std::string>())
        << ranks << " ranks";
  }
  core::set_threads(0);
}

/// What a step of plain descent changes, by parameter: the gradient, up to a factor.
std::vector<std::vector<double>> changes(const RunConfig& config) {
  const Trace before = train_with_ranks(config, 1, 0), after = train_with_ranks(config, 1, 1);
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < before.arrays.size(); ++i) {
    if (!before.arrays[i].first.starts_with("params/")) continue;
    const auto &from = before.arrays[i].second, &to = after.arrays[i].second;
    std::vector<double>& own = all.emplace_back();
    for (std::size_t j = 0; j < from.size(); ++j) own.push_back(double(to[j]) - double(from[j]));
  }
  return all;
}

TEST_P(Chunks, have_the_gradients_of_whole_sequences) {
  std::vector<std::string> settings = GetParam().settings;
  settings.insert(settings.end(), {"optim.kind=sgd", "optim.lr=10", "optim.clip=0",
                                   "optim.weight_decay=0", "model.dropout=0"});
  const bool rounds = GetParam().name == "bf16";
  const auto cut = changes(in_chunks(settings));
  settings.insert(settings.end(), {"train.shards=1", "train.chunks=1"});
  const auto whole = changes(in_chunks(settings));
  ASSERT_EQ(cut.size(), whole.size());
  double all = 0, apart = 0;
  for (std::size_t i = 0; i < cut.size(); ++i)
    for (std::size_t j = 0; j < cut[i].size(); ++j) {
      all += whole[i][j] * whole[i][j];
      apart += (cut[i][j] - whole[i][j]) * (cut[i][j] - whole[i][j]);
    }
  EXPECT_GT(all, 0);
  EXPECT_LT(std::sqrt(apart / all), rounds ? 1e-2 : 1e-4);
}

TEST_P(Chunks, score_every_token_once_as_whole_sequences_do) {
  const RunConfig config = in_chunks(GetParam().settings);
  RunConfig alone = config;
  alone.train.shards = alone.train.chunks = 1;
  Trainer whole(alone);
  const Evaluation expected =
      evaluate(whole.model(), whole.dataset(), validation_options(whole, 0, [] {}));
  std::mutex mutex;
  std::vector<Evaluation> found;
  for (const Index ranks : {1, 2, 3})
    RanksInThreads::run(ranks, [&](core::Ranks& own) {
      Trainer trainer(config, own);
      const Evaluation e =
          evaluate(trainer.model(), trainer.dataset(), validation_options(trainer, 0, [] {}));
      const std::lock_guard lock(mutex);
      found.push_back(e);
    });
  ASSERT_EQ(found.size(), 6u);
  for (const Evaluation& e : found) {
    EXPECT_EQ(e.tokens, expected.tokens);
    EXPECT_EQ(e.nats, found[0].nats);
    EXPECT_EQ(e.correct, found[0].correct);
    EXPECT_NEAR(e.nats, expected.nats, GetParam().name == "bf16" ? 1e-2 : 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Training, Chunks, testing::ValuesIn(parts_of_training()),
                         [](const auto& test) { return test.param.name; });

/// What the last of two steps sends, all ranks together.
core::Traffic sent_in_a_step(const RunConfig& config, Index ranks, Index& size) {
  std::vector<core::Traffic> of_runs;
  for (const Index steps : {1, 2}) {
    const Index sent = core::counters().sent_bytes, messages = core::counters().messages;
    RanksInThreads::run(ranks, [&](core::Ranks& own) {
      Trainer trainer(config, own);
      while (trainer.steps_done() < steps) trainer.step();
      if (own.is_first()) size = trainer.arena().dense_size();
    });
    of_runs.push_back({core::counters().sent_bytes - sent, core::counters().messages - messages});
  }
  return {of_runs[1].bytes - of_runs[0].bytes, of_runs[1].messages - of_runs[0].messages};
}

TEST(ChunksOfStep, send_what_their_closed_form_says_at_any_number_of_ranks) {
  for (const Case& own : parts_of_training()) {
    // What states are told comes on top.
    if (own.name == "performer" || own.name == "spans") continue;
    SCOPED_TRACE(own.name);
    const RunConfig config = in_chunks(own.settings);
    const core::ChunkUnits units = config.train.units();
    const RunForecast alone = forecast_run(config, Index(1) << 40, false);
    for (const Index ranks : {1, 2, 3, 4}) {
      Index size = 0;
      const core::Traffic step = sent_in_a_step(config, ranks, size);
      core::Traffic sent;
      for (Index r = 0; r < ranks; ++r) {
        sent += core::traffic_of_step(core::Slices(size, ranks), r, units.count(), 1);
        sent += core::traffic_of_chunks(units, r, ranks, alone.between_chunks);
      }
      EXPECT_EQ(step, sent) << ranks << " ranks";
    }
  }
}

TEST(ChunksOfStep, send_a_window_and_sums_that_do_not_grow_with_the_sequence) {
  for (const std::string length : {"data.length=64", "data.length=640"}) {
    const RunConfig config = in_chunks({"model.attention=[\"local\",\"linear\"]",
                                        "attention.local.window=9", "train.batch=1", length});
    Index size = 0;
    const core::Traffic step = sent_in_a_step(config, 4, size);
    core::Traffic others;
    for (Index r = 0; r < 4; ++r) others += core::traffic_of_step(core::Slices(size, 4), r, 4, 1);
    // Of three pairs of neighbours, there and back: 8 rows of keys and values, and of two heads
    // 8 x 8 sums with 8 totals and 8 references.
    const Index keys = 8 * 2 * 16, sums = 2 * (8 * 8 + 8 + 8);
    EXPECT_EQ(step.bytes - others.bytes, 3 * 2 * (keys + sums) * Index(sizeof(core::Real)));
    EXPECT_EQ(step.messages - others.messages, 3 * 2 * 2);
  }
}

TEST(ChunksOfStep, a_run_saved_by_two_ranks_goes_on_with_one_or_three) {
  const RunConfig config = in_chunks(
      {"model.attention=[\"local\",\"linear\"]", "attention.local.window=9", "train.steps=5"});
  const Trace straight = train_with_ranks(config, 1, 5);
  CheckpointStore store(fresh_directory(), 1, 0);
  RanksInThreads::run(2, [&](core::Ranks& own) {
    Trainer trainer(config, own);
    for (Index i = 0; i < 2; ++i) trainer.step();
    const Snapshot snapshot = trainer.snapshot();
    if (own.is_first()) store.save(snapshot);
  });
  std::vector<std::string> warnings;
  const Checkpoint checkpoint = store.load_last(warnings);
  for (const Index ranks : {1, 3}) {
    Trace resumed{straight.losses, {}};
    RanksInThreads::run(ranks, [&](core::Ranks& own) {
      Trainer trainer(config, own);
      own.is_first() ? trainer.restore(checkpoint) : trainer.receive();
      while (trainer.steps_done() < 5) trainer.step();
      const Snapshot snapshot = trainer.snapshot();
      if (!own.is_first()) return;
      for (const ConstNamedArray& array : snapshot.arrays)
        resumed.arrays.emplace_back(
            array.name, std::vector<core::Real>(array.values.begin(), array.values.end()));
    });
    EXPECT_EQ(differences(straight, resumed), std::vector<std::string>()) << ranks << " ranks";
  }
}

TEST(ChunksOfStep, divergence_is_found_by_all_ranks_and_reported_by_the_first) {
  const RunConfig config =
      in_chunks({"optim.kind=sgd", "optim.lr=1000", "optim.clip=0", "train.steps=300",
                 "model.attention=[\"local\",\"linear\"]", "attention.local.window=9"});
  expect_divergence_on_every_rank(config);
}

TEST(ChunksOfStep, a_step_given_up_between_chunks_changes_nothing) {
  const RunConfig config = in_chunks({"model.attention=local", "attention.local.window=9"});
  const Trace straight = train_with_ranks(config, 1, 2);
  for (const Index polls : {1, 3, 5, 7}) {
    Trainer trainer(config);
    trainer.step();
    Index left = polls;
    EXPECT_THROW(trainer.step(nullptr,
                              [&] {
                                if (--left == 0) throw std::runtime_error("stop");
                              }),
                 std::runtime_error)
        << polls;
    trainer.step();
    Trace found{straight.losses, {}};
    for (const ConstNamedArray& array : trainer.snapshot().arrays)
      found.arrays.emplace_back(array.name,
                                std::vector<core::Real>(array.values.begin(), array.values.end()));
    EXPECT_EQ(differences(straight, found), std::vector<std::string>()) << polls;
  }
}

TEST(ChunksOfStep, a_budget_of_minutes_is_measured_on_one_chunk) {
  const RunConfig config = in_chunks({"train.steps=0", "train.minutes=0.001", "optim.warmup=0"});
  RanksInThreads::run(3, [&](core::Ranks& own) {
    Trainer trainer(config, own);
    EXPECT_GE(trainer.total_steps(), 1);
  });
}

TEST(ChunksOfStep, four_ranks_together_keep_little_more_than_one) {
  for (const std::string attention : {"local", "linear"}) {
    const RunConfig config = in_chunks({"data.length=8192", "train.batch=1", "threads=1",
                                        "model.attention=" + attention, "model.width=32"});
    core::set_threads(1);
    std::map<Index, double> peak;  // of all ranks together, which share a pool of memory
    for (const Index ranks : {1, 4}) {
      core::reset_memory_peak();
      const Index before = core::memory_use().live;
      train_with_ranks(config, ranks, 2);
      peak[ranks] = double(core::memory_use().peak - before);
    }
    EXPECT_LT(peak[4], 1.2 * peak[1]) << attention;
    const RunForecast alone = forecast_run(config, Index(1) << 40);
    const RanksForecast shared = forecast_ranks(config, alone, 4, 1e9);
    EXPECT_LT(double(shared.peak_bytes), 0.35 * double(alone.peak_bytes)) << attention;
    core::set_threads(0);
  }
}

TEST(ChunksOfStep, more_ranks_than_chunks_are_told_what_to_set) {
  const RunConfig config = in_chunks({"train.chunks=2"});
  try {
    RanksInThreads::run(4, [&](core::Ranks& own) { Trainer trainer(config, own); });
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("train.chunks=4"), std::string::npos);
  }
}

TEST(ChunksOfData, put_together_are_the_whole_batch) {
  const auto dataset = make_dataset(in_chunks());
  const data::Batch whole = dataset->training(3);
  std::vector<core::Token> inputs, targets;
  for (Index row = 0; row < 2; ++row)
    for (Index chunk = 0; chunk < 3; ++chunk) {
      const data::Batch part =
          data::columns_of(data::rows_of(whole, {row, row + 1}), core::ChunkCut{64, 3}.of(chunk));
      const auto own_inputs = part.inputs.read(), own_targets = part.targets.read();
      inputs.insert(inputs.end(), own_inputs.begin(), own_inputs.end());
      targets.insert(targets.end(), own_targets.begin(), own_targets.end());
    }
  EXPECT_TRUE(std::ranges::equal(inputs, whole.inputs.read()));
  EXPECT_TRUE(std::ranges::equal(targets, whole.targets.read()));
}

/// What a config with these settings is refused for; empty if it is not.
std::string refusal(std::vector<std::string> settings) {
  try {
    in_chunks(std::move(settings));
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(ChunksOfSettings, what_cannot_be_cut_is_refused_by_name) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"train.chunks=5"}, "does not divide data.length"},
      {{"train.accumulate=2"}, "train.accumulate = 1"},
      {{"train.memory=4GB"}, "train.memory is measured"},
      {{"model.causal=false"}, "model.causal = true"},
      {{"model.norm=batch", "model.allow_leaky_norm=true"}, "batch norm"},
      {{"model.feedforward=experts"}, "only dense feed-forwards"},
      {{"model.feedforward=sparse"}, "only dense feed-forwards"},
      {{"model.steps=2"}, "run several times"},
      {{"model.positions=axial"}, "axial positions"},
      {{"model.positions=t5"}, "t5 positions"},
      {{"attention.dense.conv=3"}, "a convolution"},
      {{"attention.dense.projection=sparse"}, "sparse projections"},
      {{"data.stream=128", "model.segment_memory=true", "model.attention=adaptive_span",
        "model.positions=none"},
       "model.segment_memory = false"},
      {{"model.attention=gated_deltanet"}, "is a recurrence"},
  };
  for (const auto& [settings, words] : cases) {
    const std::string message = refusal(settings);
    EXPECT_NE(message.find("train.chunks"), std::string::npos) << words << ": " << message;
    EXPECT_NE(message.find(words), std::string::npos) << words << ": " << message;
  }
}

TEST(ChunksOfSettings, attention_that_does_not_read_over_chunks_is_refused) {
  const std::set<std::string_view> reading = {
      "dense",  "local",  "dilated",   "strided",    "fixed",         "global",      "pattern",
      "linear", "taylor", "performer", "fixed_span", "adaptive_span", "dynamic_span"};
  for (const std::string_view kind : layers::attention_kinds()) {
    const std::string message = refusal({"model.attention=" + std::string(kind)});
    EXPECT_EQ(message.empty(), reading.contains(kind)) << kind << ": " << message;
  }
}

TEST(ChunksOfSettings, one_chunk_keeps_the_names_of_runs) {
  const RunConfig today = small_shards(text), one = small_shards(text, {"train.chunks=1"});
  EXPECT_EQ(today.identity(), one.identity());
  EXPECT_NE(in_chunks().identity(), in_chunks({"train.chunks=2"}).identity());
}

}  // namespace
}  // namespace weft::experiments::chunks_test
