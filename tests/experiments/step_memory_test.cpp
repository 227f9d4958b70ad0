// What a whole training step allocates, as sequences grow.
#include "core/memory.h"
#include "experiments/train/trainer.h"

namespace weft::experiments::step_memory_test {
namespace {

struct StepMemory {
  Index largest;
  std::map<std::string, Index> by_scope;
};

StepMemory memory_of_a_step(const std::string& attention, Index length) {
  const std::string config = "[data]\nkind = \"noise\"\nlength = " + std::to_string(length) +
                             "\n[model]\nlayers = 2\nwidth = 32\nheads = 2\nff = 64\n"
                             "positions = \"rotary\"\nattention = \"" +
                             attention + "\"\n[train]\nsteps = 4\nbatch = 1\n";
  Trainer trainer(RunConfig::from_text(config, "step", {}));
  trainer.step();
  core::reset_memory_peak();
  trainer.step();
  return {core::memory_use().largest, core::peak_bytes_by_scope()};
}

TEST(StepMemory, every_part_of_a_step_at_most_doubles_when_the_length_does) {
  for (const std::string attention : {"local", "longformer", "bigbird", "lsh", "linear"}) {
    const StepMemory once = memory_of_a_step(attention, 8192);
    const StepMemory twice = memory_of_a_step(attention, 16384);
    EXPECT_LE(double(twice.largest), 2.2 * double(once.largest)) << attention;
    EXPECT_GT(once.by_scope.size(), 4u);
    for (const auto& [scope, bytes] : twice.by_scope) {
      const auto before = once.by_scope.find(scope);
      if (before == once.by_scope.end()) continue;
      EXPECT_LE(double(bytes), 2.2 * double(before->second)) << attention << " in " << scope;
    }
  }
}

}  // namespace
}  // namespace weft::experiments::step_memory_test
