// Weights and results that are no numbers: every command that asks a model says so and exits
// with 3.
#include <limits>

#include "experiments/checkpoint/file.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::diverged_program_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;
constexpr core::Real no_number = std::numeric_limits<core::Real>::quiet_NaN();

/// Writes a checkpoint again with other arrays and a seal that is right for them.
template <class Change>
void rewrite(const fs::path& path, Change change) {
  Checkpoint checkpoint = load_checkpoint(path);
  Snapshot snapshot{.step = checkpoint.step,
                    .config_toml = checkpoint.config_toml,
                    .facts = checkpoint.facts,
                    .arrays = {}};
  for (auto& [name, array] : checkpoint.arrays) {
    change(name, array);
    snapshot.arrays.push_back({name, array.shape, array.values});
  }
  write_checkpoint(path, snapshot, checkpoint.validation);
}

/// A finished run "a" of twelve steps, of whose parameters then none is a number.
class WithoutNumbers : public Program {
 public:
  explicit WithoutNumbers(const std::string& name) : Program("diverged_" + name) {
    write("base.toml", sweep_base);
    const Outcome outcome = run({"train", "base.toml", "--run", "a", "model.positions=rotary"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    rewrite(directory() / "a/checkpoints/ckpt-00000012.h5",
            [](const std::string& array, Checkpoint::Array& own) {
              if (array.starts_with("params/")) std::ranges::fill(own.values, no_number);
            });
  }
};

TEST(Diverged, eval_prints_no_score_of_weights_that_are_no_numbers) {
  const WithoutNumbers program("eval");
  for (const Words& words :
       {Words{"eval", "a"}, Words{"eval", "a", "--json"}, Words{"eval", "a", "--lengths", "8,16"},
        Words{"eval", "a", "--lengths", "8,16", "--json"}}) {
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 3) << words.back() << outcome.out << outcome.err;
    expect_holds(outcome.err, {"the model's loss on validation", "is not finite", "--ckpt"});
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Diverged, an_audit_of_weights_that_are_no_numbers_calls_nothing_clean) {
  const WithoutNumbers program("audit");
  const Outcome outcome = program.run({"audit", "a"});
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST(Diverged, nothing_is_generated_or_predicted_by_weights_that_are_no_numbers) {
  const WithoutNumbers program("generate");
  program.write("texts.txt", "abc\n");
  for (const Words& words : {Words{"generate", "a", "--prompt", "abc"},
                             Words{"generate", "a", "--prompt", "abc", "--temperature", "0"},
                             Words{"predict", "a", "texts.txt"}}) {
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 3) << words[0] << outcome.out << outcome.err;
    expect_holds(outcome.err, {"what the model predicts is not a number", "--ckpt"});
  }
}

TEST(Diverged, a_validation_that_is_no_number_ends_the_training_and_is_not_saved) {
  const Program program("diverged_validation");
  // The last character of the alphabet is in the validation split only, and its row of the table of
  // tokens is not a number: training never reads it.
  program.write("c.toml", R"(
[data]
kind = "text"
units = "characters"
train_path = "training.txt"
validation_path = "validation.txt"
test_path = "validation.txt"
length = 16
[model]
layers = 1
width = 8
heads = 2
tie = false
[train]
steps = 12
batch = 2
eval_every = 4
checkpoint_every = 2
)");
  std::string training, validation;
  for (int i = 0; i < 100; ++i) training += "abc"[i % 3], validation += "abz"[i % 3];
  program.write("training.txt", training);
  program.write("validation.txt", validation);
  const Outcome before = program.run({"train", "c.toml", "--run", "a"});
  ASSERT_EQ(before.code, 0) << before.err;
  rewrite(program.directory() / "a/checkpoints/ckpt-00000012.h5",
          [](const std::string& array, Checkpoint::Array& own) {
            if (array != "params/tokens.weight") return;
            const auto width = std::ptrdiff_t(own.shape.back());
            std::fill(own.values.end() - width, own.values.end(), no_number);
          });
  const Outcome outcome = program.run({"train", "c.toml", "--run", "b", "--init-from", "a"});
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  expect_holds(outcome.err, {"the validation loss after step 4 is not finite", "optim.lr"});
  EXPECT_EQ(read_status({program.directory() / "b"}).state, "diverged");
  EXPECT_EQ(read_metrics(program.directory() / "b/metrics.jsonl").size(), 4u);
  EXPECT_FALSE(fs::exists(program.directory() / "b/checkpoints/ckpt-00000004.h5"));
}

}  // namespace
}  // namespace weft::experiments::diverged_program_test
