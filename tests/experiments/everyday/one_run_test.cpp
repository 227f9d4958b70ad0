// What users see of a single run, while it trains and afterwards. The numbers are those of the
// expectations that were found when weft was tried as a new user would.
#include <algorithm>
#include <csignal>

#include "experiments/run/metrics_log.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::one_run_test {
namespace {

namespace fs = std::filesystem;

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

/// The line that begins with these words, without leading spaces; empty where there is none.
std::string line_of(const std::string& text, const std::string& words) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.starts_with(words)) return line;
  }
  return "";
}

/// How many columns of a sparkline a line has.
std::size_t columns_of(const std::string& line) {
  std::size_t n = 0;
  for (const char* const block : {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"})
    n += occurrences(line, block);
  return n;
}

class OneRun : public Program {
 public:
  explicit OneRun(const std::string& name) : Program("everyday_" + name) {
    write("base.toml", sweep_base);
  }
  fs::path path(const std::string& name) const { return directory() / name; }
};

TEST(Row2, a_page_of_one_run_draws_what_its_metrics_hold) {
  const OneRun program("page");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "r", "sample.tokens=4"}).code, 0);
  const Outcome outcome = program.run({"report", "r", "-o", "r.html"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::size_t steps = 0, validations = 0, distances = 0;
  for (const MetricRecord& record : read_metrics(program.path("r/metrics.jsonl"))) {
    steps += record.has("loss");
    validations += record.has("validation_loss");
    for (const auto& [name, value] : record.values)
      if (name == "recall_tokens")
        distances = std::size_t(std::ranges::count_if(std::get<std::vector<double>>(value),
                                                      [](double tokens) { return tokens > 0; }));
  }
  ASSERT_EQ(steps, 12u);
  ASSERT_EQ(validations, 3u);
  const std::string page = read_text(program.path("r.html"));
  // Of every step its loss, learning rate, gradient norm, speed and memory; recall as last
  // measured, at distances from which anything is recalled.
  EXPECT_GT(distances, 1u);
  EXPECT_EQ(occurrences(page, "class=\"mark\""), 5 * steps + validations + distances);
  for (const char* const part : {"learning rate", "gradient norm", "tokens/s", "finished"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_GE(occurrences(page, "class=\"sampled\""), 1u);
}

TEST(Row2, a_terminal_shows_the_curves_of_finished_and_killed_runs) {
  const OneRun program("terminal");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "r"}).code, 0);
  const Outcome finished = program.run({"watch", "r", "--tui"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_NE(line_of(finished.out, "r  finished  step 12/12"), "") << finished.out;
  for (const char* const curve : {"loss", "learning rate", "gradient norm", "tokens/s"})
    EXPECT_EQ(columns_of(line_of(finished.out, curve)), 12u) << curve << finished.out;
  EXPECT_EQ(columns_of(line_of(finished.out, "validation")), 3u) << finished.out;

  const pid_t child = program.start({"train", "base.toml", "--run", "k", "train.steps=100000"});
  while (!fs::exists(program.path("k/metrics.jsonl")) ||
         fs::file_size(program.path("k/metrics.jsonl")) == 0)
    usleep(5000);
  kill(child, SIGKILL);
  program.wait(child);
  const Outcome killed = program.run({"watch", "k", "--tui"});
  EXPECT_NE(line_of(killed.out, "k  killed"), "") << killed.out;
  EXPECT_GE(columns_of(line_of(killed.out, "loss")), 1u) << killed.out;
}

TEST(Row2, runs_side_by_side_name_the_settings_that_differ) {
  const OneRun program("side_by_side");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "a"}).code, 0);
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "b", "optim.lr=1e-3"}).code, 0);
  ASSERT_EQ(program.run({"report", "a", "b", "-o", "ab.html"}).code, 0);
  std::string page = read_text(program.path("ab.html"));
  const std::size_t differ = page.find("Settings that differ");
  ASSERT_NE(differ, std::string::npos);
  page = page.substr(differ, page.find("</table>", differ) - differ);
  EXPECT_NE(page.find("optim.lr"), std::string::npos);
  EXPECT_NE(page.find("0.001"), std::string::npos);
  EXPECT_EQ(page.find("model.width"), std::string::npos);
}

}  // namespace
}  // namespace weft::experiments::one_run_test
