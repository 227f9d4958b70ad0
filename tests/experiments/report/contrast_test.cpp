#include "experiments/report/contrast.h"

#include <cmath>

#include "experiments/report/advice.h"
#include "experiments/report/result_tables.h"
#include "tests/experiments/report/report_trials.h"

namespace weft::experiments::contrast_test {
namespace {

using Finding = Contrast::Finding;

/// The contrast of a row with bits a and one with bits b.
Contrast contrast(const std::vector<double>& a, const std::vector<double>& b) {
  SweepRecord sweep;
  add_row(sweep, "a", a);
  add_row(sweep, "b", b);
  const Comparison comparison = compare(sweep, {});
  const auto& rows = comparison.tasks[0].rows;
  const bool in_order = rows[0].name == "a";
  return contrast_of(rows[in_order ? 0 : 1], rows[in_order ? 1 : 0], "bits");
}

TEST(Contrast, is_decided_where_the_interval_over_seeds_excludes_zero) {
  // Differences of -1.0, -1.1 and -0.9: mean -1, deviation 0.1, and 4.302653 / sqrt(3) of it.
  const Contrast lead = contrast({2.0, 2.1, 2.2}, {3.0, 3.2, 3.1});
  EXPECT_EQ(lead.finding, Finding::better);
  EXPECT_NEAR(lead.difference.mean, -1, 1e-12);
  EXPECT_NEAR(lead.half_width, 0.1 * 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_EQ(contrast({3.0, 3.2, 3.1}, {2.0, 2.1, 2.2}).finding, Finding::worse);
}

TEST(Contrast, pairs_seeds_so_that_what_seeds_share_does_not_hide_a_difference) {
  EXPECT_EQ(contrast({1.0, 5.0, 9.0}, {1.1, 5.11, 9.09}).finding, Finding::better);
}

TEST(Contrast, two_seeds_need_a_difference_of_thirteen_standard_errors) {
  EXPECT_EQ(contrast({1.0, 1.0}, {1.09, 1.11}).finding, Finding::undecided)
      << "0.1 over 0.01 are 10 standard errors";
  EXPECT_EQ(contrast({1.0, 1.0}, {1.095, 1.105}).finding, Finding::better) << "20";
  EXPECT_EQ(contrast({1.0}, {9.0}).finding, Finding::unmeasured);
}

TEST(Contrast, an_open_one_says_how_many_seeds_would_decide) {
  const Contrast open = contrast({1.0, 1.0, 1.0}, {1.0, 1.1, 1.2});  // 0.1 ± 0.1: an effect of 1
  EXPECT_EQ(open.finding, Finding::undecided);
  EXPECT_EQ(open.enough, 10);
  EXPECT_NE(text_of(open, "bits").find("-0.1000 ± 0.2484, undecided (10)"), std::string::npos)
      << text_of(open, "bits");
  // Where nothing is seen, they are those that find the margin of a tie.
  const Contrast none = contrast({1.0, 1.1, 1.0}, {1.1, 1.0, 1.0});
  EXPECT_EQ(none.enough, pairs_to_decide(0.01, 0.1));
}

TEST(Contrast, is_a_tie_where_all_of_the_interval_is_within_the_margin) {
  EXPECT_EQ(contrast({1.000, 1.001, 1.002}, {1.001, 1.001, 1.001}).finding, Finding::tie);
  EXPECT_EQ(contrast({1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}).finding, Finding::tie);
}

TEST(Contrast, differences_without_a_spread_are_decided_by_their_signs_alone) {
  const std::vector<double> five(5, 1.0), six(6, 1.0), more(5, 2.0), most(6, 2.0);
  EXPECT_EQ(contrast(five, more).finding, Finding::undecided) << "2 of 32 signs are as equal";
  EXPECT_EQ(contrast(five, more).enough, 6);
  EXPECT_EQ(contrast(six, most).finding, Finding::better);
}

/// Two rows whose trials began alike.
SweepRecord alike(const char* key) {
  SweepRecord sweep;
  for (const char* const value : {"one", "two"})
    for (const char* const seed : {"1", "2", "3"}) {
      TrialRecord trial = finished_trial({{key, value}, {"seed", seed}}, 2.0 + 0.1 * value[0]);
      trial.first_loss = 5.0 + 0.1 * seed[0];
      trial.first_gradient = 1.0;
      sweep.trials.push_back(trial);
    }
  return sweep;
}

TEST(Contrast, rows_of_equal_counts_and_equal_first_steps_are_the_same) {
  const auto finding = [](const SweepRecord& sweep) {
    const Comparison comparison = compare(sweep, {});
    const auto& rows = comparison.tasks[0].rows;
    return contrast_of(rows[0], rows[1], "bits").finding;
  };
  EXPECT_EQ(finding(alike("model.attention")), Finding::same);
  EXPECT_NE(finding(alike("optim.lr")), Finding::same) << "shows only after the first step";
  SweepRecord other = alike("model.attention");
  other.trials[4].first_loss *= 1.001;
  EXPECT_NE(finding(other), Finding::same) << "another loss";
  other = alike("model.attention");
  for (std::size_t i = 3; i < 6; ++i) other.trials[i].plan.flops *= 2;
  EXPECT_NE(finding(other), Finding::same) << "other arithmetic";
}

TEST(Verdict, names_a_best_row_only_where_seeds_do_not_explain_its_lead) {
  SweepRecord sweep;
  add_row(sweep, "dense", {1.00, 1.05, 1.10});
  add_row(sweep, "local", {1.04, 1.04, 1.16});
  add_row(sweep, "linear", {2.0, 2.1, 2.2});
  const Comparison open = compare(sweep, {});
  const auto said = advice_of(open.tasks[0]);
  EXPECT_EQ(said[0].substr(0, 100),
            std::string("Undecided: ahead is dense, 1.0500 ± 0.0500 bits per byte, but seeds may "
                        "explain its lead over local (")
                .substr(0, 100));
  EXPECT_EQ(said[1], "More than seeds explain: its lead over linear.");
  const Table table = result_table(open, open.tasks[0]);
  EXPECT_EQ(table.header[3], "Δ dense");
  EXPECT_NE(table.rows[2][3].find(", worse"), std::string::npos) << table.rows[2][3];
  using Cells = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(table.best, (Cells{{0, 1}, {1, 1}})) << "both that nothing beats are set off";

  sweep.trials.erase(sweep.trials.begin() + 3, sweep.trials.begin() + 6);
  const Comparison closed = compare(sweep, {});
  EXPECT_EQ(advice_of(closed.tasks[0])[0], "Best: dense, 1.0500 ± 0.0500 bits per byte.");
  EXPECT_EQ(advice_of(closed.tasks[0])[1], "Its lead over linear is more than seeds explain.");
}

TEST(Verdict, a_baseline_takes_the_place_of_the_best_in_the_column_of_differences) {
  SweepRecord sweep;
  add_row(sweep, "dense", {1.00, 1.05, 1.10});
  add_row(sweep, "linear", {2.0, 2.1, 2.2});
  const Comparison comparison = compare(sweep, {.baseline = "linear"});
  const Table table = result_table(comparison, comparison.tasks[0]);
  EXPECT_EQ(table.header[3], "Δ linear");
  EXPECT_EQ(table.rows[0][3], "-1.0500 ± 0.1242, better");
  EXPECT_EQ(table.rows[1][3], "—");
}

TEST(Verdict, every_pair_is_listed_with_its_finding_in_all_metrics) {
  SweepRecord sweep;
  for (const char* const name : {"a", "b", "c"})
    add_row(sweep, name, {name[0] + 0.0, name[0] + 0.1, name[0] + 0.3});
  for (TrialRecord& trial : sweep.trials) trial.scores["recall"] = 0.5;
  const Comparison comparison = compare(sweep, {});
  EXPECT_EQ(pair_table(comparison.tasks[0]).rows.size(), 3u);
  const Table values = pair_values(comparison);
  ASSERT_EQ(values.rows.size(), 6u);
  EXPECT_EQ(values.rows[5][3], "recall");
  EXPECT_EQ(values.rows[5][7], "tie");
}

}  // namespace
}  // namespace weft::experiments::contrast_test
