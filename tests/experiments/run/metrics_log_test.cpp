#include "experiments/run/metrics_log.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "core/error.h"
#include "tests/experiments/checkpoint/checkpoint_sample.h"

namespace weft::experiments::metrics_log_test {
namespace {

void append_steps(const std::filesystem::path& path, core::Index first, core::Index last) {
  MetricsLog log(path);
  for (core::Index step = first; step <= last; ++step)
    log.append({step, {{"loss", 1.0 / double(step)}}});
}

void append_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

TEST(MetricsLog, prints_one_object_a_line_with_the_fewest_exact_digits) {
  const auto path = fresh_directory() / "metrics.jsonl";
  MetricsLog log(path);
  log.append({3, {{"loss", 0.1}, {"tokens", std::int64_t(1) << 60}, {"lr", 1e-30}}});
  log.append({4, {{"loss", std::nan("")}, {"note", "a \"quoted\"\nline"}}});
  log.append({5, {{"recall", std::vector<double>{0.5, std::numeric_limits<double>::infinity()}}}});
  log.sync();
  EXPECT_EQ(core::read_text_file(path),
            "{\"step\":3,\"loss\":0.1,\"tokens\":1152921504606846976,\"lr\":1e-30}\n"
            "{\"step\":4,\"loss\":null,\"note\":\"a \\\"quoted\\\"\\nline\"}\n"
            "{\"step\":5,\"recall\":[0.5,null]}\n");
}

TEST(MetricsLog, reads_back_every_number_exactly) {
  const auto path = fresh_directory() / "metrics.jsonl";
  {
    MetricsLog log(path);
    for (core::Index i = 0; i < 200; ++i)
      log.append({i, {{"x", std::ldexp(core::Rng(1).normal(std::uint64_t(i)), int(i) - 100)}}});
    log.append({200, {{"whole", 3.0}, {"text", "word"}, {"none", std::nan("")}}});
  }
  const auto records = read_metrics(path);
  ASSERT_EQ(records.size(), 201u);
  for (core::Index i = 0; i < 200; ++i)
    EXPECT_EQ(records[std::size_t(i)].number("x"),
              std::ldexp(core::Rng(1).normal(std::uint64_t(i)), int(i) - 100));
  EXPECT_EQ(records[200].number("whole"), 3.0);
  EXPECT_TRUE(std::isnan(records[200].number("none")));
  EXPECT_TRUE(std::isnan(records[200].number("absent")));
  EXPECT_FALSE(records[200].has("absent"));
  EXPECT_EQ(std::get<std::string>(records[200].values[1].second), "word");
  EXPECT_TRUE(read_metrics(path.string() + ".absent").empty());
}

TEST(MetricsLog, is_cut_back_to_a_step_and_goes_on_from_there) {
  const auto path = fresh_directory() / "metrics.jsonl";
  append_steps(path, 1, 100);
  const std::string straight = core::read_text_file(path);
  append_text(path, "{\"step\":101,\"lo");
  const MetricsCut cut = cut_metrics_back(path, 50);
  EXPECT_EQ(cut.records, 51);
  EXPECT_EQ(cut.newest_step, 100);
  EXPECT_EQ(read_metrics(path).back().step, 50);
  append_steps(path, 51, 100);
  EXPECT_EQ(core::read_text_file(path), straight);
  EXPECT_EQ(cut_metrics_back(path, 100).records, 0);
  EXPECT_EQ(core::read_text_file(path), straight);
  EXPECT_EQ(cut_metrics_back(path.string() + ".absent", 3).records, 0);
}

TEST(MetricsLog, drops_lines_that_are_no_records_when_cut_back) {
  const auto path = fresh_directory() / "metrics.jsonl";
  append_steps(path, 1, 2);
  append_text(path, "noise\n[1]\n{\"loss\":2}\n\n");
  append_steps(path, 3, 3);
  EXPECT_EQ(read_metrics(path).size(), 3u);
  EXPECT_EQ(cut_metrics_back(path, 3).records, 4);
  EXPECT_EQ(read_metrics(path).size(), 3u);
}

TEST(MetricsLog, removes_a_torn_last_line_when_opened) {
  const auto path = fresh_directory() / "metrics.jsonl";
  append_steps(path, 1, 2);
  const std::string whole = core::read_text_file(path);
  append_text(path, "{\"step\":3");
  EXPECT_EQ(read_metrics(path).size(), 2u);
  { MetricsLog log(path); }
  EXPECT_EQ(core::read_text_file(path), whole);
}

TEST(MetricsLog, is_as_before_when_the_disk_is_full) {
  const auto path = fresh_directory() / "metrics.jsonl";
  append_steps(path, 1, 20);
  const std::string before = core::read_text_file(path);
  const pid_t child = ::fork();
  if (child == 0) {
    core::ignore_file_size_signal();
    const rlimit limit{rlim_t(before.size() + 5), rlim_t(before.size() + 5)};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text = message_when([&] { append_steps(path, 21, 21); });
    ::_exit(contains(text, "metrics.jsonl") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(core::read_text_file(path), before);
}

TEST(MetricsLog, says_when_it_cannot_be_opened) {
  EXPECT_TRUE(contains(message_when([] { MetricsLog log("/nowhere/metrics.jsonl"); }), "/nowhere"));
}

}  // namespace
}  // namespace weft::experiments::metrics_log_test
