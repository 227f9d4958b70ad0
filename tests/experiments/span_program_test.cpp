// Runs of models that learn how far they read.
#include "experiments/run/metrics_log.h"
#include "tests/experiments/program.h"

namespace weft::experiments::span_program_test {
namespace {

const std::vector<std::string> recurrent = {"model.segment_memory=true", "model.positions=none",
                                            "model.attention=adaptive_span", "data.stream=96"};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(SpanProgram, log_metrics_and_eval_carry_spans_and_multiply_adds) {
  const Program program("spans");
  program.write("tiny.toml", tiny_config);
  const Outcome train =
      program.run(with({"train", "tiny.toml", "--run", "run", "train.steps=20"}, recurrent));
  ASSERT_EQ(train.code, 0) << train.err;
  EXPECT_NE(train.out.find("spans 32 on average"), std::string::npos) << train.out;
  bool found = false;
  for (const MetricRecord& record : read_metrics(program.directory() / "run" / "metrics.jsonl")) {
    if (!record.has("validation_loss")) continue;
    found = true;
    EXPECT_TRUE(record.has("layers.0.spans"));
    EXPECT_TRUE(record.has("layers.1.spans"));
    // Two layers of 4 d^2 + 2 d ff weights and 2 e keys for each of 4 heads; prices keep z at 0.
    EXPECT_NEAR(record.number("macs_paper"), 2 * (12 * 16 * 16 + 2 * 4 * 4 * 32), 40);
    EXPECT_GT(record.number("macs_counted"), record.number("macs_paper"));
  }
  EXPECT_TRUE(found);
  const Outcome eval = program.run({"eval", "run"});
  EXPECT_NE(eval.out.find("spans of its heads"), std::string::npos) << eval.out << eval.err;
  const Outcome json = program.run({"eval", "run", "--json"});
  EXPECT_NE(json.out.find("\"macs_paper\""), std::string::npos) << json.out << json.err;
}

TEST(SpanProgram, recurrence_asks_for_streams_positions_and_a_mechanism_that_go_with_it) {
  const Program program("recurrence_config");
  program.write("tiny.toml", tiny_config);
  const Outcome outcome = program.run({"config", "tiny.toml", "model.segment_memory=true"});
  EXPECT_EQ(outcome.code, 2);
  for (const std::string wanted :
       {"learned positions begin anew", "needs batches that continue", "carries a past"})
    EXPECT_NE(outcome.err.find(wanted), std::string::npos) << wanted << " in " << outcome.err;
  EXPECT_EQ(program.run(with({"config", "tiny.toml"}, recurrent)).code, 0);
}

}  // namespace
}  // namespace weft::experiments::span_program_test
