#include "experiments/report/span_chart.h"

#include <cmath>

#include "experiments/report/report.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::span_chart_test {
namespace {

TEST(SpanChart, has_a_mark_for_every_head_of_every_layer) {
  TrialRecord one, other;
  one.spans = {{0, {30, 10}}, {2, {5, 7, 6}}};
  other.spans = {{0, {20, 40}}, {2, {5, 5, 5}}};
  ComparedTask task;
  task.rows.resize(2);
  task.rows[0].name = "adaptive_span";
  task.rows[0].done = {&one, &other};
  task.rows[1].name = "dense";
  TrialRecord none;
  task.rows[1].done = {&none};
  const Chart chart = span_chart(task, {{"adaptive_span", 0}, {"dense", 1}});
  ASSERT_EQ(chart.series.size(), 1u);
  const auto& marks = chart.series[0].marks;
  ASSERT_EQ(marks.size(), 5u);
  EXPECT_DOUBLE_EQ(marks[0].y, 15);  // the shorter ones: 10 and 20
  EXPECT_DOUBLE_EQ(marks[1].y, 35);
  EXPECT_NEAR(marks[0].deviation, std::sqrt(50.0), 1e-12);
  EXPECT_DOUBLE_EQ(marks[0].x, 0.25);
  EXPECT_DOUBLE_EQ(marks[2].x, 2 + 0.5 / 3);
  EXPECT_DOUBLE_EQ(marks[4].y, 6);
  EXPECT_EQ(chart.drawn_marks(), 5u);
}

TEST(SpanChart, stands_in_the_report_of_a_sweep_with_spans_and_in_no_other) {
  const Program program("span_chart");
  program.write("base.toml", sweep_base);
  program.write("s.toml",
                "base = \"base.toml\"\nseeds = 2\n[grid]\nmodel.attention = [\"dense\", "
                "\"adaptive_span\"]\n");
  ASSERT_EQ(program.run({"sweep", "s.toml", "model.layers=2"}).code, 0);
  const Outcome outcome = program.run({"report", "sweeps/s", "-o", "report.html,pictures/"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const SweepRecord sweep = read_sweep(program.directory() / "sweeps/s");
  std::size_t reported = 0;
  for (const TrialRecord& trial : sweep.trials)
    for (const auto& [layer, spans] : trial.spans) reported += spans.size();
  EXPECT_EQ(reported, 2u * 2 * 2);  // seeds, layers, heads
  const Report report = make_report(sweep, {});
  std::size_t drawn = 0, charts = 0;
  for (const ChartFigure& chart : report.charts.at(0))
    if (chart.file.ends_with("-spans")) drawn += chart.chart.drawn_marks(), ++charts;
  EXPECT_EQ(charts, 1u);
  EXPECT_EQ(drawn, reported / 2);  // one for all seeds
  std::size_t pictures = 0;
  for (const auto& file : std::filesystem::directory_iterator(program.directory() / "pictures"))
    pictures += file.path().stem().string().ends_with("-spans");
  EXPECT_EQ(pictures, 1u);
}

}  // namespace
}  // namespace weft::experiments::span_chart_test
