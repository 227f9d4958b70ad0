#include "experiments/report/trial_record.h"

#include <sys/stat.h>

#include <cmath>

#include "core/error.h"
#include "experiments/report/html_page.h"
#include "experiments/run/run_files.h"
#include "tests/fresh_directory.h"

namespace weft::experiments::trial_record_test {
namespace {

/// A sweep of one trial, as weft writes it, with these metrics.
SweepFiles sweep_with(const std::string& metrics) {
  const SweepFiles files{fresh_directory()};
  SweepPlan plan{.name = "s", .command = "weft sweep", .budget = "", .trials = {}};
  PlannedTrial& trial = plan.trials.emplace_back();
  trial.id = "a1";
  trial.settings = {{"seed", "1"}};
  write_plan(files, plan);
  std::filesystem::create_directories(files.run("a1") / "samples");
  write_status({files.run("a1")}, {.state = "running", .step = 3});
  std::ofstream(RunFiles{files.run("a1")}.metrics()) << metrics;
  return files;
}

TEST(TrialRecord, speeds_that_are_no_numbers_are_left_out) {
  std::string metrics;
  for (int i = 1; i <= 50; ++i)
    metrics += core::message_of("{\"step\":", i, ",\"tokens\":", i * 8,
                                ",\"tokens_per_s\":", i % 3 ? "null" : core::message_of(i),
                                ",\"peak_bytes\":1}\n");
  const SweepRecord sweep = read_sweep(sweep_with(metrics).directory);
  EXPECT_EQ(sweep.trials.at(0).tokens_per_s, 27);
  EXPECT_FALSE(html_page(make_report(sweep, {})).empty());
}

TEST(TrialRecord, a_line_of_very_many_metrics_is_read) {
  std::string line = "{\"step\":1";
  for (int i = 0; i < 200'000; ++i) line += core::message_of(",\"k", i, "\":1");
  const SweepRecord sweep = read_sweep(sweep_with(line + ",\"validation_loss\":2.5}\n").directory);
  EXPECT_EQ(sweep.trials.at(0).best_validation, 2.5);
}

TEST(TrialRecord, the_newest_sample_is_a_file_of_that_name) {
  const SweepFiles files = sweep_with("");
  const auto samples = files.run("a1") / "samples";
  std::ofstream(samples / "3.png") << "three";
  std::ofstream(samples / "7x.png") << "no step";
  std::ofstream(samples / "08.png") << "no step";
  ASSERT_EQ(::mkfifo((samples / "9.png").c_str(), 0600), 0);
  EXPECT_EQ(read_sweep(files.directory).trials.at(0).sample, "three");
}

TEST(TrialRecord, a_plan_of_more_than_any_sweep_has_is_called_damaged) {
  const SweepFiles files = sweep_with("");
  const auto refused = [&](const std::string& json) {
    std::ofstream(files.plan()) << json;
    EXPECT_THROW(read_plan(files), core::Error);
  };
  std::string trials = "1", members = "\"k\":1";
  for (int i = 0; i < 100'000; ++i) trials += ",1", members += core::message_of(",\"k", i, "\":1");
  const std::string start = R"({"name":"s","command":"c","budget":"","trials":[)";
  refused(start + trials + "]}");
  refused(start + "{" + members + "}]}");
  refused(std::string(100'000, '['));
}

}  // namespace
}  // namespace weft::experiments::trial_record_test
