#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

#include "experiments/report/report.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::report_program_test {
namespace {

const char* const swept = R"(
base = "base.toml"
seeds = 2
[grid]
model.attention = ["dense", "routing"]
data.length = [16, 32]
)";

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST(ReportProgram, result_tables_are_the_same_bytes_however_the_trials_ran) {
  const Program program("report_same");
  program.write("base.toml", sweep_base);
  program.write("s.toml", swept);
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "a"}).code, 0);
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "b", "-j", "2"}).code, 0);
  for (const char* const sweep : {"a", "b"}) {
    const std::string name = std::string("out-") + sweep;
    const Outcome outcome =
        program.run({"report", sweep, "-o", name + "/t.md," + name + "/t.tex," + name + "/t.csv"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  for (const char* const file : {"t.md", "t.tex", "t.csv"}) {
    const std::string a = read_text(program.directory() / "out-a" / file);
    EXPECT_EQ(a, read_text(program.directory() / "out-b" / file)) << file;
    EXPECT_FALSE(a.empty());
    EXPECT_EQ(a.find("tokens/s"), std::string::npos);
  }
  EXPECT_NE(read_text(program.directory() / "out-a/t-times.md").find("tokens/s"),
            std::string::npos);
  // A report that cannot be written is no damaged checkpoint.
  std::filesystem::create_directories(program.directory() / "taken.html");
  const Outcome refused = program.run({"report", "a", "-o", "taken.html"});
  EXPECT_EQ(refused.code, 1) << refused.err;
  EXPECT_NE(refused.err.find("cannot write taken.html"), std::string::npos) << refused.err;
}

TEST(ReportProgram, the_page_is_whole_and_draws_every_point_of_the_data) {
  const Program program("report_page");
  program.write("base.toml", sweep_base);
  program.write("s.toml", swept);
  ASSERT_EQ(program.run({"sweep", "s.toml"}).code, 0);
  const Outcome outcome = program.run({"report", "sweeps/s", "-o", "report.html,pictures/"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Equal budgets: train.steps = 12."), std::string::npos) << outcome.out;
  // Two seeds of a model that learned nothing: no verdict, and the reasons for doubt.
  EXPECT_NE(outcome.out.find("Doubt: two seeds (every row)"), std::string::npos) << outcome.out;
  const std::string page = read_text(program.directory() / "report.html");
  EXPECT_NE(page.find("Doubt:</span> two seeds (every row)"), std::string::npos);
  std::istringstream stream(page);
  boost::property_tree::ptree tree;
  EXPECT_NO_THROW(boost::property_tree::read_xml(stream, tree));
  for (const char* const outside : {"<script", "src=", "https:", "@import"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(occurrences(page, "url("), occurrences(page, "url(#w")) << "masks of the page itself";

  const SweepRecord sweep = read_sweep(program.directory() / "sweeps/s");
  const Report report = make_report(sweep, {});
  std::size_t marks = 0, charts = 0;
  for (auto all = report.charts; const auto& of_task : all)
    for (const ChartFigure& chart : of_task) marks += chart.chart.drawn_marks(), ++charts;
  for (const ChartFigure& chart : report.lengths) marks += chart.chart.drawn_marks(), ++charts;
  EXPECT_EQ(occurrences(page, "class=\"mark\""), marks);
  std::size_t rows = 0;
  for (const ComparedTask& task : report.comparison.tasks) rows += task.rows.size();
  EXPECT_EQ(occurrences(page, "class=\"thumbnail\""), rows) << "what each can read";
  EXPECT_EQ(occurrences(page, "<svg"), charts + rows);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(program.directory() / "pictures"))
    files += file.path().extension() == ".svg";
  EXPECT_EQ(files, charts);
  // Of each task: curves, three trade-offs, recall and two figures of routing; growth of two.
  EXPECT_EQ(charts, 2u * 7 + 2);
  // A curve has a mark for each validation, a trade-off one for each mechanism.
  EXPECT_EQ(report.charts[0][0].chart.drawn_marks(), 2u * 3);
  EXPECT_EQ(report.charts[0][1].chart.drawn_marks(), 2u);
}

TEST(ReportProgram, a_directory_without_a_sweep_and_an_odd_ending_are_refused) {
  const Program program("report_none");
  const Outcome none = program.run({"report", "nowhere"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("no sweep at nowhere"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace weft::experiments::report_program_test
