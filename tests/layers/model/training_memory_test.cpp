// A training step after the first lives on what the first took.
#include "core/counters.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::training_memory_test {
namespace {

class TrainingMemory : public testing::TestWithParam<double> {
 protected:
  // How many blocks are in use at once is the same in each step only when one thread runs.
  TrainingMemory() { core::set_threads(1); }
  ~TrainingMemory() override { core::set_threads(0); }

  std::vector<SampleModel*> models() {
    for (const AttentionEntry& entry : attention_registry())
      for (const ModelSettings& form : every_form())
        for (const bool recompute : {false, true}) {
          ModelSettings settings = with_attention(form, entry.kind);
          settings.dropout = GetParam();
          made_.push_back(std::make_unique<SampleModel>(settings, 140, recompute));
        }
    std::vector<SampleModel*> all;
    for (const auto& model : made_) all.push_back(model.get());
    return all;
  }

 private:
  std::vector<std::unique_ptr<SampleModel>> made_;
};

TEST_P(TrainingMemory, the_second_step_takes_nothing_from_the_system) {
  for (SampleModel* it : models()) {
    SCOPED_TRACE(describe(it->settings));
    core::trim_memory();
    core::reset_memory_peak();
    it->train(1);
    EXPECT_GT(core::memory_use().fresh, 0);
    core::reset_memory_peak();
    it->train(2);
    EXPECT_EQ(core::memory_use().fresh, 0);
  }
}

TEST_P(TrainingMemory, a_step_copies_nothing_because_it_is_shared) {
  for (SampleModel* it : models()) {
    SCOPED_TRACE(describe(it->settings));
    it->train(1);
    const Index before = core::counters().detaches;
    it->train(2);
    EXPECT_EQ(core::counters().detaches - before, 0);
  }
}

TEST_P(TrainingMemory, a_step_leaves_nothing_behind) {
  for (SampleModel* it : models()) {
    SCOPED_TRACE(describe(it->settings));
    const Index before = core::memory_use().live;
    it->train(1);
    EXPECT_EQ(core::memory_use().live, before);
  }
}

INSTANTIATE_TEST_SUITE_P(Dropout, TrainingMemory, testing::Values(0.0, 0.2),
                         [](const auto& rate) { return rate.param > 0 ? "on" : "off"; });

}  // namespace
}  // namespace weft::layers::training_memory_test
