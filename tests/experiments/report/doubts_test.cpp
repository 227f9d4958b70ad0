#include "experiments/report/doubts.h"

#include <algorithm>
#include <cmath>

#include "experiments/report/result_tables.h"
#include "tests/experiments/report/report_trials.h"

namespace weft::experiments::doubts_test {
namespace {

using Texts = std::vector<std::string>;

std::string all_doubts(const SweepRecord& sweep) {
  std::string text;
  const Comparison comparison = compare(sweep, {});
  for (const Doubt& doubt : doubts_of(comparison.tasks[0])) text += doubt.text + "\n";
  return text;
}

std::string beyond(const std::string& chosen, const Texts& values) {
  return value_beyond({"optim.lr", chosen, values}).value_or("none");
}

TEST(Doubts, a_value_beyond_the_edge_keeps_the_ratio_up_to_three_times) {
  EXPECT_EQ(beyond("0.004", {"0.001", "0.004"}), "0.012");
  EXPECT_EQ(beyond("0.004", {"0.004", "0.002", "0.001"}), "0.008");
  EXPECT_EQ(beyond("0.001", {"0.001", "0.004"}), "0.00033");
  EXPECT_EQ(beyond("1e-3", {"1e-3", "3e-3"}), "0.00033");
  EXPECT_EQ(beyond("0.002", {"0.001", "0.002", "0.004"}), "none") << "inside";
  EXPECT_EQ(beyond("100", {"50", "100"}), "200");
  EXPECT_EQ(beyond("0", {"0", "0.1"}), "none") << "there is nothing below no dropout";
  EXPECT_EQ(beyond("adam", {"adam", "sgd"}), "none");
  EXPECT_EQ(beyond("0.1", {"0.1"}), "none") << "nothing was chosen";
}

/// Two rows at the learning rates 0.001 and 0.004, of which the larger is better.
SweepRecord at_the_edge() {
  SweepRecord sweep;
  for (const char* const name : {"a", "b"})
    for (const char* const lr : {"0.001", "0.004"})
      for (const char* const seed : {"1", "2", "3"})
        sweep.trials.push_back(
            finished_trial({{"model.attention", name}, {"optim.lr", lr}, {"seed", seed}},
                           (lr[4] == '4' ? 1.0 : 2.0) + 0.1 * name[0] + 0.001 * seed[0]));
  return sweep;
}

TEST(Doubts, a_choice_at_the_edge_of_what_was_tried_says_what_to_try) {
  const std::string text = all_doubts(at_the_edge());
  EXPECT_NE(text.find("lr at the edge: 0.004 is the largest tried and the choice of every row; try "
                      "0.012"),
            std::string::npos)
      << text;
  const SweepRecord sweep = at_the_edge();
  const Comparison comparison = compare(sweep, {});
  const Table table = result_table(comparison, comparison.tasks[0]);
  EXPECT_TRUE(std::ranges::any_of(table.remarks, [](const std::string& remark) {
    return remark.starts_with("Doubt: lr at the edge");
  })) << "in every form of the table";
  const Table values = result_values(comparison);
  const auto column =
      std::size_t(std::ranges::find(values.header, "doubts") - values.header.begin());
  ASSERT_LT(column, values.header.size());
  EXPECT_NE(values.rows[0][column].find("try 0.012"), std::string::npos);
}

TEST(Doubts, a_budget_was_short_where_the_last_quarter_still_lowered_the_loss_by_one_per_cent) {
  SweepRecord sweep;
  add_row(sweep, "a", {1, 1, 1});
  const auto fall = [&](std::vector<double> values) {
    for (TrialRecord& trial : sweep.trials) trial.validation = {{25, 50, 75, 100}, values};
    const Comparison comparison = compare(sweep, {});
    return late_fall(comparison.tasks[0].rows[0]);
  };
  EXPECT_NEAR(*fall({4, 3, 2.04, 2}), 0.02, 1e-12);
  EXPECT_NE(all_doubts(sweep).find("curves still falling"), std::string::npos);
  EXPECT_NE(all_doubts(sweep).find("a 2.0 %"), std::string::npos) << all_doubts(sweep);
  EXPECT_NEAR(*fall({4, 3, 2.01, 2}), 0.005, 1e-12);
  EXPECT_EQ(all_doubts(sweep).find("curves still falling"), std::string::npos);
  EXPECT_LT(*fall({4, 3, 2, 2.5}), 0) << "it rose";
  for (TrialRecord& trial : sweep.trials) trial.validation = {{50, 75, 100}, {4, 3, 2}};
  EXPECT_NE(all_doubts(sweep).find("less than four validations"), std::string::npos);
}

TEST(Doubts, few_seeds_are_named) {
  SweepRecord sweep;
  add_row(sweep, "a", {1, 2, 3});
  add_row(sweep, "b", {1, 2});
  add_row(sweep, "c", {1});
  const std::string text = all_doubts(sweep);
  EXPECT_NE(text.find("one seed (c)"), std::string::npos) << text;
  EXPECT_NE(text.find("two seeds (b)"), std::string::npos) << text;
}

TEST(Doubts, many_intervals_of_95_per_cent_are_counted) {
  SweepRecord sweep;
  for (int i = 0; i < 5; ++i)
    add_row(sweep, std::string(1, char('a' + i)), {i + 0.0, i + .1, i + .3});
  EXPECT_EQ(all_doubts(sweep).find("chance alone"), std::string::npos) << "none spreads";
  for (std::size_t i = 0; i < sweep.trials.size(); ++i)
    sweep.trials[i].scores["bits"] += 0.001 * double(i * i % 7);
  EXPECT_NE(all_doubts(sweep).find("of 10 pairs without a difference, chance alone would call "
                                   "about 0.5 decided"),
            std::string::npos)
      << all_doubts(sweep);
}

TEST(Doubts, one_system_under_two_names_is_found) {
  SweepRecord sweep;
  add_row(sweep, "dense", {1, 2, 3});
  add_row(sweep, "local", {1.1, 2.2, 3});
  for (TrialRecord& trial : sweep.trials) trial.first_loss = 5, trial.first_gradient = 1;
  EXPECT_NE(all_doubts(sweep).find("local computes what dense does"), std::string::npos)
      << all_doubts(sweep);
}

}  // namespace
}  // namespace weft::experiments::doubts_test
