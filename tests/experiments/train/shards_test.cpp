// A batch cut into shards: what they add up to, at any number of ranks, here threads.
#include "core/counters.h"
#include "core/parallel.h"
#include "core/ranks/traffic.h"
#include "experiments/checkpoint/store.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/forecast/ranks_forecast.h"
#include "experiments/train/run_model.h"
#include "experiments/train/validation.h"
#include "layers/attention/registry.h"
#include "tests/data/batch_equality.h"
#include "tests/experiments/train/completed_gradients.h"
#include "tests/experiments/train/rank_traces.h"
#include "tests/fresh_directory.h"

namespace weft::experiments::shards_test {
namespace {

const std::string small = "[data]\nlength = 16\nheld_out = 8\n[model]\nlayers = 1\n";

/// Something that a run can have, by the settings that give it.
struct Case {
  std::string name;
  std::vector<std::string> settings = {};
  std::string text = small;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> parts_of_training() {
  return {
      {"accumulate", {"train.accumulate=2"}},
      {"dropout", {"model.dropout=0.2"}},
      {"batch_norm", {"model.norm=batch", "model.allow_leaky_norm=true"}},
      {"reversible", {"model.reversible=true"}},
      {"recompute", {"train.recompute=true"}},
      {"bf16", {"train.precision=bf16"}},
      {"adagrad", {"optim.kind=adagrad", "optim.tensor_clip=0.001"}},
      {"sgd", {"optim.kind=sgd", "optim.weight_decay=0"}},
      {"routing", {"model.attention=routing", "attention.routing.clusters=2"}},
      {"routing_accumulated",
       {"model.attention=routing", "attention.routing.clusters=2", "train.accumulate=2"}},
      {"streams",
       {"data.stream=48", "model.attention=adaptive_span", "model.segment_memory=true",
        "model.positions=none"}},
      {"experts", {"model.feedforward=experts", "model.dropout=0.1"}},
      {"product_keys", {"model.feedforward=memory", "model.memory_keys=8", "model.memory_top=2"}},
      {"several_buckets", {"model.layers=2", "model.width=256"}},
      {"several_reversible_buckets",
       {"model.layers=2", "model.width=256", "model.reversible=true"}},
      {"universal", {"model.layers=2", "model.steps=2"}},
      {"recomputed_chunks", {"model.layers=2", "train.recompute=true", "model.ff_chunk=16"}},
      {"listops",
       {},
       "[data]\nkind = \"listops\"\nlength = 128\nshortest = 8\nheld_out = 8\n[model]\n"
       "task = \"classify\"\ncausal = false\nlayers = 1\n"},
      {"facts",
       {},
       "[data]\nkind = \"facts\"\nlength = 128\nshortest = 8\nheld_out = 8\n[model]\n"
       "task = \"span\"\ncausal = false\nlayers = 1\n"},
      {"masked",
       {},
       "[data]\nkind = \"text\"\npath = \"" + source_dir() +
           "/LICENSE\"\nlength = 16\nmasking = \"bert\"\nmask_share = 0.05\n"
           "[model]\ncausal = false\nlayers = 1\n"},
  };
}

/// That each of these numbers of ranks, of one thread or two, ends where one process of one thread
/// ends.
void expect_equal_ranks(const Case& own, Index steps, const std::vector<Index>& all_ranks) {
  const RunConfig config = small_shards(own.text, own.settings);
  core::set_threads(1);
  const Trace one = train_with_ranks(config, 1, steps);
  for (const Index ranks : all_ranks) {
    core::set_threads(1 + ranks % 2);
    EXPECT_EQ(differences(one, train_with_ranks(config, ranks, steps)), std::vector<std::string>())
        << ranks << " ranks";
  }
  core::set_threads(0);
}

class Shards : public testing::TestWithParam<Case> {};

TEST_P(Shards, any_number_of_ranks_and_threads_trains_the_same_bits) {
  expect_equal_ranks(GetParam(), 3, {1, 2, 3, 4});
}

TEST_P(Shards, send_gradients_that_the_sweep_does_not_change_any_more) {
  const FollowedSweep found = follow_sweep(small_shards(GetParam().text, GetParam().settings));
  EXPECT_EQ(found.changed_later, std::vector<std::string>());
  EXPECT_GE(found.moments, 4u);
}

INSTANTIATE_TEST_SUITE_P(Training, Shards, testing::ValuesIn(parts_of_training()),
                         [](const auto& test) { return test.param.name; });

/// Every mechanism of the registry: dense, and those that have a config of their own.
std::vector<Case> mechanisms() {
  std::vector<Case> cases = {{"dense"}};
  for (const auto& file :
       std::filesystem::directory_iterator(source_dir() + "/configs/mechanisms")) {
    const std::string name = file.path().stem();
    std::vector<std::string> settings = {"data.length=128", "model.width=32", "model.heads=4"};
    if (name.ends_with("etc")) settings.push_back("data.path=" + source_dir() + "/LICENSE");
    cases.push_back({name, settings, "configs/mechanisms/" + name + ".toml"});
  }
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

class ShardsOfMechanism : public testing::TestWithParam<Case> {};

TEST_P(ShardsOfMechanism, any_number_of_ranks_and_threads_trains_the_same_bits) {
  expect_equal_ranks(GetParam(), 2, {1, 2, 3});
}

TEST_P(ShardsOfMechanism, send_gradients_that_the_sweep_does_not_change_any_more) {
  const FollowedSweep found = follow_sweep(small_shards(GetParam().text, GetParam().settings));
  EXPECT_EQ(found.changed_later, std::vector<std::string>());
  EXPECT_GE(found.moments, 4u);
}

/// A few whose products follow train.precision, each with tiles of its own: whole panels, a window,
/// lists of chosen keys, features, blocks that a query chooses, a span that learns.
std::vector<Case> mechanisms_in_bf16() {
  std::vector<Case> cases = mechanisms();
  const std::set<std::string> tiled{"dense", "local", "lsh", "linear", "moba", "adaptive_span"};
  std::erase_if(cases, [&](const Case& one) { return !tiled.contains(one.name); });
  for (Case& one : cases) one.settings.push_back("train.precision=bf16");
  return cases;
}

class ShardsInBf16 : public testing::TestWithParam<Case> {};

TEST_P(ShardsInBf16, any_number_of_ranks_and_threads_trains_the_same_bits) {
  expect_equal_ranks(GetParam(), 2, {2, 3});
}

TEST(ShardsInBf16, are_of_six_mechanisms_and_train_other_bits_than_in_float32) {
  const std::vector<Case> cases = mechanisms_in_bf16();
  ASSERT_EQ(cases.size(), 6u);
  const auto trained = [](const Case& own, const std::string& precision) {
    std::vector<std::string> settings = own.settings;
    settings.push_back("train.precision=" + precision);
    return train_with_ranks(small_shards(own.text, settings), 1, 1);
  };
  EXPECT_NE(differences(trained(cases[0], "bf16"), trained(cases[0], "float32")),
            std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Registry, ShardsInBf16, testing::ValuesIn(mechanisms_in_bf16()),
                         [](const auto& test) { return test.param.name; });

TEST(ShardsOfMechanism, are_tested_with_every_mechanism_of_the_registry) {
  std::set<std::string> tested;
  for (const Case& one : mechanisms()) tested.insert(one.name);
  for (const std::string_view kind : layers::attention_kinds())
    EXPECT_TRUE(tested.contains(std::string(kind))) << kind;
}

INSTANTIATE_TEST_SUITE_P(Registry, ShardsOfMechanism, testing::ValuesIn(mechanisms()),
                         [](const auto& test) { return test.param.name; });

TEST(ShardsOfStep, cutting_a_batch_changes_what_is_drawn_and_how_sums_are_rounded_alone) {
  const Trace whole = train_with_ranks(small_shards(small, {"train.shards=1"}), 1, 3);
  const Trace cut = train_with_ranks(small_shards(small), 1, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(whole.losses[i], cut.losses[i], 1e-4);
  EXPECT_NE(differences(whole, cut), std::vector<std::string>());
}

/// What all ranks together do in the steps of a run.
struct Work {
  core::Traffic sent;
  Index added, size;
};

Work work_of(const RunConfig& config, Index ranks, Index steps) {
  const Index sent = core::counters().sent_bytes, messages = core::counters().messages,
              added = core::counters().added_terms;
  Index size = 0;
  RanksInThreads::run(ranks, [&](core::Ranks& own) {
    Trainer trainer(config, own);
    while (trainer.steps_done() < steps) trainer.step();
    if (own.is_first()) size = trainer.arena().dense_size();
  });
  return {{core::counters().sent_bytes - sent, core::counters().messages - messages},
          core::counters().added_terms - added,
          size};
}

/// What the last of two steps takes.
Work work_of_step(const RunConfig& config, Index ranks) {
  const Work one = work_of(config, ranks, 1), two = work_of(config, ranks, 2);
  return {{two.sent.bytes - one.sent.bytes, two.sent.messages - one.sent.messages},
          two.added - one.added,
          one.size};
}

TEST(ShardsOfStep, send_and_add_what_the_design_says) {
  const RunConfig config = small_shards(small, {"train.accumulate=2", "model.width=64"});
  for (const Index ranks : {1, 2, 4}) {
    const Work step = work_of_step(config, ranks);
    const Index size = step.size, others = ranks - 1;
    const Index pieces = (size + core::elementwise_grain - 1) / core::elementwise_grain;
    // Each rank tells the others how many targets its two micro-batches count, and then its part's
    // place in the tree and loss; a sum of squares for each piece.
    const Index counts = ranks * others * 2 * 8, losses = ranks * others * (8 + 24 + 16);
    EXPECT_EQ(step.sent.bytes, 8 * size * others + counts + losses + 8 * pieces * others) << ranks;
    EXPECT_EQ(step.added, 3 * size) << ranks;
  }
}

TEST(ShardsOfStep, send_what_its_closed_form_says_at_any_number_of_ranks) {
  for (const std::string width : {"model.width=64", "model.width=256"}) {
    const RunConfig config = small_shards(small, {"train.accumulate=2", width});
    for (const Index ranks : {1, 2, 3, 4}) {
      const Work step = work_of_step(config, ranks);
      const core::Slices slices(step.size, ranks);
      core::Traffic sent;
      for (Index r = 0; r < ranks; ++r) sent += core::traffic_of_step(slices, r, 4, 2);
      EXPECT_EQ(step.sent, sent) << ranks << " ranks, " << width;
      EXPECT_EQ(step.added, 3 * step.size) << ranks;
    }
  }
}

TEST(ShardsOfStep, fit_into_the_memory_that_was_forecast) {
  const RunConfig config = small_shards(small, {"model.width=64", "optim.kind=adamw", "threads=1"});
  const RunForecast alone = forecast_run(config, Index(1) << 40);
  for (const Index ranks : {1, 2, 3, 4}) {
    std::mutex mutex;
    Index most = 0;
    RanksInThreads::run(ranks, [&](core::Ranks& own) {
      Trainer trainer(config, own);
      trainer.step();
      const std::lock_guard lock(mutex);
      most = std::max(most, trainer.fixed_bytes());
    });
    const RanksForecast forecast = forecast_ranks(config, alone, ranks, 1e9);
    EXPECT_EQ(forecast.kept_bytes, most) << ranks;
    EXPECT_GT(forecast.peak_bytes, most) << ranks;
  }
}

TEST(ShardsOfStep, a_run_saved_by_two_ranks_goes_on_with_one_or_three) {
  const RunConfig config =
      small_shards(small, {"data.stream=48", "model.attention=adaptive_span",
                           "model.segment_memory=true", "model.positions=none", "train.steps=5"});
  const Trace straight = train_with_ranks(config, 1, 5);
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 1, 0);
  RanksInThreads::run(2, [&](core::Ranks& own) {
    Trainer trainer(config, own);
    for (Index i = 0; i < 2; ++i) trainer.step();
    const Snapshot snapshot = trainer.snapshot();
    if (own.is_first()) store.save(snapshot);
  });
  std::vector<std::string> warnings;
  const Checkpoint checkpoint = store.load_last(warnings);
  for (const Index ranks : {1, 3}) {
    Trace resumed;
    RanksInThreads::run(ranks, [&](core::Ranks& own) {
      Trainer trainer(config, own);
      own.is_first() ? trainer.restore(checkpoint) : trainer.receive();
      while (trainer.steps_done() < 5) trainer.step();
      const Snapshot snapshot = trainer.snapshot();
      if (!own.is_first()) return;
      resumed.losses = straight.losses;
      for (const ConstNamedArray& array : snapshot.arrays)
        resumed.arrays.emplace_back(
            array.name, std::vector<core::Real>(array.values.begin(), array.values.end()));
    });
    EXPECT_EQ(differences(straight, resumed), std::vector<std::string>()) << ranks << " ranks";
  }
}

TEST(ShardsOfStep, every_rank_finds_the_same_evaluation_of_every_token_once) {
  for (const std::string& text : {small, parts_of_training().end()[-2].text}) {
    const RunConfig config = small_shards(text);
    std::vector<Evaluation> found;
    std::mutex mutex;
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
      EXPECT_EQ(e.tokens, found[0].tokens);
      EXPECT_EQ(e.nats, found[0].nats);
      EXPECT_EQ(e.correct, found[0].correct);
    }
  }
}

TEST(ShardsOfStep, divergence_is_found_by_all_ranks_and_reported_by_the_first) {
  const RunConfig config =
      small_shards(small, {"optim.kind=sgd", "optim.lr=1000", "optim.clip=0", "train.steps=300"});
  expect_divergence_on_every_rank(config);
}

TEST(ShardsOfStep, more_ranks_than_shards_are_told_what_to_set) {
  const RunConfig config = small_shards(small, {"train.shards=2"});
  try {
    RanksInThreads::run(4, [&](core::Ranks& own) { Trainer trainer(config, own); });
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("train.shards=4"), std::string::npos);
  }
}

class RowsOfData : public testing::TestWithParam<Case> {};

TEST_P(RowsOfData, are_read_as_they_are_in_the_whole_batch) {
  const auto dataset = make_dataset(small_shards(GetParam().text));
  for (Index number = 0; number < 5; ++number) {
    const data::Batch whole = dataset->training(number);
    for (Index from = 0; from < 4; ++from)
      for (Index to = from + 1; to <= 4; ++to)
        EXPECT_TRUE(
            data::same(dataset->training(number, {from, to}), data::rows_of(whole, {from, to})))
            << number << ": " << from << " to " << to;
  }
}

std::vector<Case> readers() {
  std::vector<Case> cases;
  const std::string end = "\nheld_out = 8\n[model]\nlayers = 1\n";
  const std::string file = "path = \"" + source_dir() + "/LICENSE\"\nlength = 16\n";
  for (const std::string kind : {"recall", "noise", "mqar", "copying", "needle", "group"})
    cases.push_back({kind, {}, "[data]\nkind = \"" + kind + "\"\nlength = 64" + end});
  cases.push_back({"stream", {}, "[data]\nlength = 16\nstream = 48" + end});
  cases.push_back({"text", {}, "[data]\nkind = \"text\"\n" + file + "[model]\nlayers = 1\n"});
  cases.push_back(
      {"text_streams",
       {},
       "[data]\nkind = \"text\"\nsampling = \"streams\"\n" + file + "[model]\nlayers = 1\n"});
  cases.push_back({"shapes", {}, "[data]\nkind = \"shapes\"\nlength = 256" + end});
  for (const Case& one : parts_of_training())
    if (one.name == "listops" || one.name == "facts" || one.name == "masked") cases.push_back(one);
  cases.push_back({"marked", {}, "configs/tasks/marked.toml"});
  cases.push_back({"duplicate", {}, "configs/tasks/duplicate.toml"});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Readers, RowsOfData, testing::ValuesIn(readers()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace weft::experiments::shards_test
