// What users meet of reversible stacks, norms, grids of positions and the duplicate task.
#include <nlohmann/json.hpp>

#include "experiments/run/metrics_log.h"
#include "tests/experiments/program.h"

namespace weft::experiments::depth_program_test {
namespace {

using Words = std::vector<std::string>;

TEST(Depth, bench_shows_that_activations_do_not_grow_with_reversible_layers) {
  const Program program("depth");
  program.write("tiny.toml", tiny_config);
  const auto activations = [&](const std::string& layers) {
    const Outcome outcome =
        program.run({"bench", "step", "tiny.toml", "--json", "--steps", "1", "threads=1",
                     "model.reversible=true", "model.layers=" + layers, "data.length=256"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    return double(json["peak_bytes"]) - double(json["fixed_bytes"]);
  };
  const double shallow = activations("4"), deep = activations("24");
  EXPECT_GT(shallow, 0);
  EXPECT_LE(deep, 1.1 * shallow);
}

TEST(Depth, verify_resume_finds_every_bit_equal_with_running_moments) {
  const Program program("moments");
  program.write("tiny.toml", tiny_config);
  const Outcome outcome =
      program.run({"verify-resume", "tiny.toml", "--at", "10", "--steps", "20", "model.norm=batch",
                   "model.allow_leaky_norm=true", "model.positions=axial", "model.reversible=true",
                   "model.ff_chunk=16", "model.loss_chunk=10"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
}

std::string refusal(const Program& program, const Words& settings) {
  Words words = {"config", "tiny.toml"};
  words.insert(words.end(), settings.begin(), settings.end());
  const Outcome outcome = program.run(words);
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  return outcome.err;
}

TEST(Depth, settings_that_do_not_go_together_are_refused_with_what_to_do) {
  const Program program("refusals");
  program.write("tiny.toml", tiny_config);
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"model.norm=batch"}, "model.allow_leaky_norm = true"},
      {{"model.allow_leaky_norm=true"}, "model.norm = \"batch\""},
      {{"model.reversible_output=concat"}, "model.reversible = true"},
      {{"model.reversible=true", "model.reversible_output=concat"}, "model.tie"},
      {{"model.reversible=true", "model.norm_place=post"}, "model.norm_place"},
      {{"model.reversible=true", "train.recompute=true"}, "train.recompute"},
      {{"model.axial_shape=[4,6]"}, "model.positions = \"axial\""},
      {{"model.positions=axial", "model.axial_shape=[4,5]"}, "fewer places than data.length, 24"},
      {{"model.positions=axial", "model.axial_widths=[4,5]"}, "add up to the width, 16"}};
  for (const auto& [settings, said] : cases) {
    const std::string message = refusal(program, settings);
    EXPECT_NE(message.find(said), std::string::npos) << settings[0] << ": " << message;
  }
}

TEST(Depth, keys_that_a_choice_brings_are_in_the_reference_and_the_leak_is_marked) {
  const Program program("reference");
  const std::string keys = program.run({"config", "--keys"}).out;
  for (const std::string key :
       {"reversible_output", "allow_leaky_norm", "axial_shape", "axial_widths", "ff_chunk"})
    EXPECT_NE(keys.find("model." + key), std::string::npos) << key;
  EXPECT_NE(program.run({"list", "norms"}).out.find("batch: each column"), std::string::npos);
  EXPECT_NE(program.run({"list", "norms"}).out.find("LEAKS"), std::string::npos);
}

TEST(Depth, the_duplicate_task_reports_accuracy_of_the_second_half) {
  const Program program("duplicate");
  program.write("twice.toml",
                "[data]\nkind = \"duplicate\"\nlength = 16\nsymbols = 5\nheld_out = 10\n"
                "[model]\nwidth = 16\n[train]\nsteps = 3\nbatch = 4\n");
  const Outcome trained = program.run({"train", "twice.toml", "--run", "run"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  EXPECT_NE((trained.out + trained.err).find("second half: "), std::string::npos);
  bool recorded = false;
  for (const MetricRecord& record : read_metrics(program.directory() / "run/metrics.jsonl"))
    recorded |= record.has("validation_accuracy") && record.has("validation_sequence_accuracy");
  EXPECT_TRUE(recorded);
  const Outcome shown = program.run({"eval", "run"});
  EXPECT_NE(shown.out.find("second half: "), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("of sequences whole"), std::string::npos);
  const auto json = nlohmann::json::parse(program.run({"eval", "run", "--json"}).out);
  EXPECT_EQ(json["tokens"], 10 * 8);
  EXPECT_EQ(json["scored_part"], "second half");
  EXPECT_LE(json["sequence_accuracy"], json["accuracy"]);
}

}  // namespace
}  // namespace weft::experiments::depth_program_test
