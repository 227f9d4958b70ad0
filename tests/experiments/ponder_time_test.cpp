// The steps after which positions of a Universal Transformer halt, by what makes tokens harder.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/solvable/mqar.h"
#include "data/tasks/listops.h"
#include "experiments/evaluate/evaluation.h"
#include "tests/experiments/program.h"

namespace weft::experiments::ponder_time_test {
namespace {

using Words = std::vector<std::string>;

/// A model whose positions halt after as many steps as `steps` says of a row and column, or of a
/// whole sequence, whose column is -1.
class Forced final : public layers::Model {
 public:
  using Steps = std::function<double(const layers::Reading&, Index row, Index column)>;
  explicit Forced(Steps steps) : steps_(std::move(steps)) {}

  layers::TokenScores score(const autograd::Pass&, const layers::Reading& reading) const override {
    layers::TokenScores scores;
    const Index each = reading.targets.shape()[1];
    for (Index i = 0; i < reading.targets.size(); ++i) {
      scores.nats.push_back(1);
      scores.correct.push_back(true);
      scores.steps.push_back(float(steps_(reading, i / each, each > 1 ? i % each : -1)));
    }
    return scores;
  }
  autograd::Var loss(const autograd::Pass&, const layers::Reading&, core::Real) const override {
    return {};
  }
  layers::Cost attention_cost(Index) const override { return {}; }
  Index layer_weights() const override { return 0; }
  Index matrix_weights() const override { return 0; }
  void visit(autograd::Inventory&) override {}

 private:
  Steps steps_;
};

TEST(PonderTime, of_recalled_tokens_is_shown_by_their_distance) {
  data::MqarSettings settings;
  settings.held_out = 32;
  settings.pairs = 4;
  const data::Mqar data(settings, 64, 8, 1);
  // One step more for every octave of the distance, which is that to the value behind the key.
  const Forced model([](const layers::Reading& reading, Index row, Index column) {
    const auto inputs = reading.inputs.read().subspan(std::size_t(row * 64), 64);
    for (Index t = column; t-- > 0;)
      if (inputs[std::size_t(t)] == inputs[std::size_t(column)])
        return 1 + std::floor(std::log2(double(column - t - 1)));
    return 1.0;
  });
  const Evaluation e = evaluate(model, data);
  double all = 0;
  Index tokens = 0;
  for (const Band& band : e.by_distance) {
    if (band.tokens == 0) continue;
    EXPECT_EQ(band.mean_steps(), 1 + std::log2(double(band.from))) << band.from;
    all += band.steps;
    tokens += band.tokens;
  }
  EXPECT_EQ(tokens, e.tokens);
  EXPECT_NEAR(e.steps, all / double(tokens), 1e-12);
  EXPECT_EQ(&e.by_hardness(), &e.by_distance);
}

TEST(PonderTime, of_nested_operations_is_shown_by_the_depth_of_their_tree) {
  data::ListopsSettings settings;
  settings.shortest = 4;
  settings.held_out = 64;
  const data::Listops data(settings, 32, 16, 1);
  const Forced model([](const layers::Reading& reading, Index row, Index) {
    const auto inputs = reading.inputs.read().subspan(std::size_t(row * 32), 32);
    double open = 0, most = 0;
    for (const core::Token token : inputs) {
      open += data::listops::is_operator(token) - (token == data::listops::closing);
      most = std::max(most, open);
    }
    return 0.5 + most;
  });
  const Evaluation e = evaluate(model, data);
  Index sequences = 0, depths = 0;
  for (const Band& band : e.by_difficulty) {
    EXPECT_EQ(band.from, band.to);
    if (band.tokens == 0) continue;
    EXPECT_EQ(band.mean_steps(), 0.5 + double(band.from));
    sequences += band.tokens;
    ++depths;
  }
  EXPECT_EQ(sequences, 64);
  EXPECT_GE(depths, 3);
  EXPECT_EQ(&e.by_hardness(), &e.by_difficulty);
  expect_holds(print_evaluation(e, data, data::Split::validation),
               {"    tree depth sequences      bits   accuracy    steps\n", "              2",
                "steps until positions halt: "});
}

constexpr const char* classes_config = R"(
[data]
kind = "listops"
length = 24
shortest = 4
held_out = 48

[model]
task = "classify"
pool = "mean"
width = 16
heads = 4
steps = 3
halting = "act"
halt_bias = 20

[train]
steps = 4
batch = 8
eval_every = 2
)";

TEST(PonderTime, is_in_what_eval_prints_in_its_json_and_in_the_metrics_and_on_the_page) {
  const Program program("ponder");
  program.write("steps.toml", classes_config);
  const auto score = [&](const std::string& run, const Words& more) {
    Words words = {"eval", run, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  // A bias of 20 halts every position at once, one of -20 none before the limit.
  for (const auto& [bias, steps] : {std::pair("20", 1.0), std::pair("-20", 3.0)}) {
    const std::string run = std::string("run") + bias;
    const Outcome trained =
        program.run({"train", "steps.toml", "--run", run, std::string("model.halt_bias=") + bias});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const std::string text = score(run, {});
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json.at("steps"), steps);
    EXPECT_EQ(json.at("difficulty"), "tree depth");
    EXPECT_GE(json.at("by_difficulty").size(), 2u);
    for (const auto& band : json.at("by_difficulty")) EXPECT_EQ(band.at("steps"), steps);
    EXPECT_EQ(score(run, {"threads=2"}), text);
    std::ifstream log(program.directory() / run / "metrics.jsonl");
    Index with_steps = 0;
    for (std::string line; std::getline(log, line);) {
      const auto metrics = nlohmann::json::parse(line);
      if (!metrics.contains("validation_steps")) continue;
      ++with_steps;
      EXPECT_EQ(metrics["validation_steps"], steps);
      EXPECT_EQ(metrics["validation_steps_mean"].size(), metrics["validation_steps_from"].size());
      for (const double mean : metrics["validation_steps_mean"]) EXPECT_EQ(mean, steps);
    }
    EXPECT_EQ(with_steps, 2);
  }
  EXPECT_EQ(program.run({"report", "run20", "run-20", "-o", "page.html"}).code, 0);
  std::ifstream page(program.directory() / "page.html");
  const std::string html(std::istreambuf_iterator<char>(page), {});
  expect_holds(html, {"steps by difficulty", "steps until positions halt"});
}

TEST(PonderTime, of_trials_is_a_column_and_a_chart_of_their_report) {
  const Program program("ponder-sweep");
  program.write("steps.toml", classes_config);
  program.write("sweep.toml", R"(
base = "steps.toml"
[grid]
"model.halt_bias" = [20.0, -20.0]
)");
  const Outcome swept = program.run({"sweep", "sweep.toml", "--dir", "swept"});
  ASSERT_EQ(swept.code, 0) << swept.out << swept.err;
  const Outcome reported = program.run({"report", "swept", "-o", "page.html"});
  ASSERT_EQ(reported.code, 0) << reported.err;
  std::ifstream page(program.directory() / "page.html");
  const std::string html(std::istreambuf_iterator<char>(page), {});
  expect_holds(html, {"steps by difficulty", "How long each ponders", "tree depth", "3.000"});
}

TEST(PonderTime, is_the_same_after_a_resume) {
  const Program program("ponder-resume");
  program.write("steps.toml", classes_config);
  const Outcome outcome = program.run({"verify-resume", "steps.toml", "--at", "2", "--steps", "4",
                                       "model.halt_bias=0", "train.eval_every=1"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace weft::experiments::ponder_time_test
