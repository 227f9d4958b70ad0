#include "experiments/run_pages/run_page.h"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <sstream>

#include "experiments/run/metrics_log.h"
#include "experiments/run_pages/run_charts.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::run_page_test {
namespace {

namespace fs = std::filesystem;

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

void expect_well_formed(const std::string& page) {
  std::istringstream stream(page);
  boost::property_tree::ptree tree;
  EXPECT_NO_THROW(boost::property_tree::read_xml(stream, tree));
  for (const char* const outside : {"<script", "https:", "@import", "url("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

/// Several runs of one small config.
class RunPage : public testing::Test {
 protected:
  RunPage() : program_("run_page") { program_.write("c.toml", sweep_base); }

  void train(const std::string& name, const std::vector<std::string>& settings = {}) const {
    std::vector<std::string> words{"train", "c.toml", "--run", name, "sample.tokens=4"};
    words.insert(words.end(), settings.begin(), settings.end());
    const Outcome outcome = program_.run(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  Program program_;
};

TEST_F(RunPage, of_one_run_draws_every_point_and_shows_its_samples) {
  train("one", {"model.attention=adaptive_span"});
  const Outcome outcome = program_.run({"report", "one", "-o", "page.html,pictures/"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("finished"), std::string::npos) << outcome.out;
  const std::string page = read_text(program_.directory() / "page.html");
  expect_well_formed(page);
  const RunRecord run = read_run(program_.directory() / "one");
  EXPECT_EQ(run.steps, 12);
  EXPECT_EQ(run.step, 12);
  std::size_t marks = 0;
  const auto charts = run_charts({run});
  for (const ChartFigure& figure : charts) marks += figure.chart.drawn_marks();
  EXPECT_EQ(occurrences(page, "class=\"mark\""), marks);
  EXPECT_EQ(occurrences(page, "<svg"), charts.size());
  // Twelve steps of training and three validations.
  EXPECT_EQ(charts.at(0).chart.drawn_marks(), 12u + 3);
  for (const char* const file :
       {"loss", "lr", "gradient_norm", "tokens_per_s", "peak_bytes", "spans"}) {
    EXPECT_EQ(std::ranges::count(charts, file, &ChartFigure::file), 1) << file;
    EXPECT_TRUE(fs::exists(program_.directory() / "pictures" / (std::string(file) + ".svg")));
  }
  EXPECT_FALSE(run.samples.empty());
  EXPECT_EQ(occurrences(page, "class=\"sampled\""), run.samples.size());
  EXPECT_NE(page.find("model.attention"), std::string::npos);
}

TEST_F(RunPage, of_several_runs_shows_the_settings_that_differ) {
  train("a");
  train("b", {"optim.lr=1e-3", "model.attention=local"});
  ASSERT_EQ(program_.run({"report", "a", "b", "-o", "page.html"}).code, 0);
  const std::string page = read_text(program_.directory() / "page.html");
  expect_well_formed(page);
  const std::vector<RunRecord> runs{read_run(program_.directory() / "a"),
                                    read_run(program_.directory() / "b")};
  const auto rows = differing_settings(runs);
  const auto differs = [&](const std::string& key) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row[0] == key; });
  };
  EXPECT_TRUE(differs("optim.lr"));
  EXPECT_TRUE(differs("model.attention"));
  EXPECT_FALSE(differs("model.width"));
  EXPECT_NE(page.find("Settings that differ"), std::string::npos);
  // The folder above names both.
  EXPECT_EQ(program_.run({"report", ".", "-o", "all.html"}).code, 0);
  EXPECT_EQ(program_.run({"report", "a", "--baseline", "dense"}).code, 2);
  EXPECT_EQ(program_.run({"report", "a", "-o", "a.tex"}).code, 2);
}

TEST_F(RunPage, escapes_what_its_files_say) {
  train("x");
  const fs::path run = program_.directory() / "x";
  for (const char* const name : {"4.txt", "12.txt"})
    std::ofstream(run / "samples" / name) << "<script>alert(1)</script>\xff\n&";
  std::ofstream(run / "status.json")
      << R"({"program":"weft","format":1,"state":"failed","step":3,"reason":"<b onclick=x>"})";
  std::ofstream(run / "metrics.jsonl", std::ios::app) << R"({"step":13,"layers.0.<i>":1})"
                                                      << "\n{\"step\":14,\"los";
  const std::string page = run_page({read_run(run)});
  expect_well_formed(page);
  EXPECT_EQ(page.find("<b "), std::string::npos);
  EXPECT_EQ(page.find("<i>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)"), std::string::npos);
}

TEST_F(RunPage, of_a_run_without_anything_says_so) {
  fs::create_directories(program_.directory() / "empty");
  program_.write("empty/status.json", R"({"program":"weft","format":1,"state":"running"})");
  const RunRecord run = read_run(program_.directory() / "empty");
  EXPECT_EQ(run.state, "killed");
  EXPECT_NE(run_page({run}).find("Nothing has been measured yet"), std::string::npos);
}

TEST_F(RunPage, metrics_have_a_wall_clock_and_starts_the_commit_and_compiler) {
  train("timed");
  double before = 1.7e9;
  for (const MetricRecord& record : read_metrics(program_.directory() / "timed/metrics.jsonl")) {
    EXPECT_GE(record.number("time"), before);
    before = record.number("time");
  }
  const RunRecord run = read_run(program_.directory() / "timed");
  for (const char* const fact : {"commit", "compiler", "version", "load", "parameters"})
    EXPECT_TRUE(run.start.contains(fact)) << fact;
  const Outcome version = program_.run({"--version"});
  EXPECT_NE(version.out.find("\ncommit "), std::string::npos) << version.out;
  EXPECT_NE(version.out.find("GCC"), std::string::npos) << version.out;
}

TEST(Thinned, keeps_the_mean_and_the_last_step) {
  Curve curve;
  for (int i = 1; i <= 1000; ++i) curve.add(i, i % 2);
  std::vector<double> deviations;
  const Curve some = thinned(curve, 100, &deviations);
  ASSERT_EQ(some.values.size(), 100u);
  EXPECT_EQ(some.steps.back(), 1000);
  EXPECT_DOUBLE_EQ(some.values.front(), 0.5);
  EXPECT_NEAR(deviations.front(), std::sqrt(2.5 / 9), 1e-12);
  EXPECT_EQ(thinned(curve, 5000).values, curve.values);
}

}  // namespace
}  // namespace weft::experiments::run_page_test
