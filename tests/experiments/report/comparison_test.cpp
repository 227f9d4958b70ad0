#include "experiments/report/comparison.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/report/advice.h"
#include "experiments/report/result_tables.h"

namespace weft::experiments::comparison_test {
namespace {

TrialRecord trial(TrialSettings settings, double validation, double bits) {
  TrialRecord record;
  record.plan.settings = std::move(settings);
  record.plan.split = "test";
  record.plan.unit = "symbol";
  record.plan.steps = 10;
  record.plan.tokens = 100;
  record.state.phase = TrialState::Phase::done;
  record.best_validation = validation;
  record.validation = {{5, 10}, {validation + 1, validation}};
  record.scores["bits"] = bits;
  record.tokens_per_s = 1000;
  record.peak_bytes = 1e6;
  return record;
}

/// Two mechanisms at two learning rates and two seeds.
SweepRecord small_sweep() {
  SweepRecord sweep;
  sweep.plan.name = "small";
  const auto add = [&](const char* attention, const char* lr, double validation, double bits) {
    for (const char* seed : {"1", "2"})
      sweep.trials.push_back(
          trial({{"model.attention", attention}, {"optim.lr", lr}, {"seed", seed}}, validation,
                bits + (seed[0] == '1' ? -0.25 : 0.25)));
  };
  add("dense", "1e-3", 1.0, 3.0);
  add("dense", "3e-3", 0.9, 3.5);  // best on validation though not on test
  add("local", "1e-3", 2.0, 4.0);
  add("local", "3e-3", 2.5, 2.0);
  return sweep;
}

TEST(Comparison, settings_are_chosen_on_validation_and_scored_on_test) {
  const SweepRecord sweep = small_sweep();
  const Comparison comparison = compare(sweep, {});
  ASSERT_EQ(comparison.tasks.size(), 1u);
  const auto& rows = comparison.tasks[0].rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "dense");
  EXPECT_EQ(rows[0].chosen, "lr 3e-3");
  EXPECT_DOUBLE_EQ(rows[0].scores.at("bits").mean, 3.5);
  EXPECT_DOUBLE_EQ(rows[0].scores.at("bits").deviation, std::sqrt(0.125));
  EXPECT_EQ(rows[1].chosen, "lr 1e-3");
  EXPECT_DOUBLE_EQ(rows[1].scores.at("bits").mean, 4.0);
}

TEST(Comparison, classifiers_are_ranked_by_accuracy_beside_what_needs_no_model) {
  SweepRecord sweep = small_sweep();
  for (TrialRecord& record : sweep.trials) {
    record.classifies = true;
    record.chance = 0.1;
    record.baselines = {{"majority", 0.2}};
    record.scores["loss"] = 1;
    record.scores["accuracy"] = record.scores["bits"] / 10;
  }
  const Comparison comparison = compare(sweep, {});
  const ComparedTask& task = comparison.tasks[0];
  EXPECT_EQ(task.metrics, (std::vector<std::string>{"accuracy", "loss"}));
  EXPECT_EQ(task.rows[0].name, "local");  // the more the better
  const Table table = result_table(comparison, task);
  EXPECT_TRUE(std::ranges::any_of(table.remarks, [](const std::string& remark) {
    return remark.find("chance 0.1000, majority 0.2000") != std::string::npos;
  }));
}

TEST(Comparison, trials_without_result_are_shown_and_never_averaged) {
  SweepRecord sweep = small_sweep();
  for (const std::size_t i : {0u, 2u}) {  // a seed of dense at either rate
    sweep.trials[i].state = {TrialState::Phase::failed, 3, "step 3: the loss is not finite"};
    sweep.trials[i].scores.clear();
  }
  for (std::size_t i = 4; i < 8; ++i) {  // all of local
    sweep.trials[i].state = {};
    sweep.trials[i].scores.clear();
  }
  const Comparison comparison = compare(sweep, {});
  const Table table = result_table(comparison, comparison.tasks[0]);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0], "dense");
  EXPECT_EQ(table.rows[0][2], "3.7500") << "one seed: no deviation, no zero in the mean";
  EXPECT_EQ(table.rows[0][3], "1/2");
  EXPECT_EQ(table.rows[0].back(),
            "1 failed, left out: step 3: the loss is not finite; chosen without trial  (lr 1e-3)");
  EXPECT_EQ(table.rows[1][2], "—");
  EXPECT_EQ(table.rows[1][3], "0/2");
  EXPECT_EQ(table.rows[1].back(),
            "2 not finished, left out; chosen without trial  (lr 3e-3),  (lr 3e-3)");
}

TEST(Comparison, an_option_that_names_nothing_is_refused) {
  const SweepRecord sweep = small_sweep();
  EXPECT_THROW(compare(sweep, {.baseline = "densest"}), core::Error);
  EXPECT_THROW(compare(sweep, {.by = "width"}), core::Error);
  EXPECT_THROW(compare(sweep, {.metric = "beauty"}), core::Error);
}

TEST(Comparison, data_settings_make_tasks_that_are_never_chosen_between) {
  SweepRecord sweep;
  for (const char* length : {"128", "512"})
    for (const char* name : {"a", "b"})
      sweep.trials.push_back(trial(
          {{"data.length", length}, {"data.kind", "recall"}, {"model.attention", name}}, 1, 2));
  const Comparison comparison = compare(sweep, {});
  ASSERT_EQ(comparison.tasks.size(), 2u);
  EXPECT_EQ(comparison.tasks[0].name, "recall, length 128");
  EXPECT_EQ(comparison.tasks[1].name, "recall, length 512");
  EXPECT_EQ(comparison.tasks[1].rows.size(), 2u);
}

TEST(Comparison, what_leaks_is_marked_and_never_advised) {
  SweepRecord sweep;
  sweep.trials.push_back(trial({{"model.attention", "honest"}}, 1, 3));
  sweep.trials.push_back(trial({{"model.attention", "paper"}}, 1, 1));
  sweep.trials.back().plan.leaks = true;
  const Comparison comparison = compare(sweep, {});
  EXPECT_EQ(result_table(comparison, comparison.tasks[0]).rows[0][0], "paper (leaks)");
  sweep.trials.back().leak_bits = 0.25;
  EXPECT_EQ(compare(sweep, {}).tasks[0].rows[0].marked_name(), "paper (leaks, +0.250 bits)");
  EXPECT_EQ(advice_of(comparison.tasks[0])[0], "Best: honest, 3.0000 bits per symbol.");
}

TEST(Comparison, tables_keep_their_form_whatever_the_cells_hold) {
  const Table table{"t", {"a|b", "c,d"}, {{"x|y", "50% \"q\" ± 1_2"}}, {}};
  EXPECT_EQ(markdown(table), "## t\n\n| a\\|b | c,d |\n|---|---|\n| x\\|y | 50% \"q\" ± 1_2 |\n");
  EXPECT_EQ(csv(table), "a|b,\"c,d\"\nx|y,\"50% \"\"q\"\" ± 1_2\"\n");
  EXPECT_NE(latex(table).find("50\\% \"q\" $\\pm$ 1\\_2"), std::string::npos) << latex(table);
}

TEST(Table, tex_aligns_numbers_and_sets_the_best_in_bold) {
  const Table table{.title = "Recall, length 128",
                    .header = {"kind", "bits", "Δ dense"},
                    .rows = {{"dense", "1.5 ± 0.1", "—"}, {"lsh", "1.7 ± 0.1", "+0.2 ± 0.3"}},
                    .remarks = {"Over 2 seeds."},
                    .best = {{0, 1}},
                    .command = "weft sweep a.toml"};
  EXPECT_EQ(latex(table),
            "% weft sweep a.toml\n% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
            "\\caption{Recall, length 128. Over 2 seeds.}\n\\label{tab:recall-length-128}\n"
            "\\begin{tabular}{lrr}\n\\toprule\nkind & bits & $\\Delta$ dense \\\\\n\\midrule\n"
            "dense & \\textbf{1.5 $\\pm$ 0.1} & --- \\\\\nlsh & 1.7 $\\pm$ 0.1 & +0.2 $\\pm$ 0.3 "
            "\\\\\n\\bottomrule\n\\end{tabular}\n\\end{table}\n");
}

TEST(Table, escapes_what_a_spreadsheet_a_browser_or_tex_would_run) {
  const Table table{
      "a\n\\input{x}", {"h"}, {{"=1+1"}, {"-0.5"}, {"@x"}, {"<img onerror>\n\\y"}}, {"r\nq"}};
  EXPECT_EQ(csv(table), "h\n'=1+1\n-0.5\n'@x\n\"<img onerror>\n\\y\"\n");
  EXPECT_NE(latex(table).find("\\caption{a \\textbackslash{}input\\{x\\}. r q}"), std::string::npos)
      << latex(table);
  EXPECT_NE(latex(table).find("\\label{tab:a-input-x}"), std::string::npos) << latex(table);
  EXPECT_NE(markdown(table).find("| &lt;img onerror> \\\\y |"), std::string::npos)
      << markdown(table);
}

}  // namespace
}  // namespace weft::experiments::comparison_test
