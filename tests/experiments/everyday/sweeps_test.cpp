// What users meet in sweeps: mistakes, divergence and reports before the end. The numbers are those
// of the papercuts that were found when weft was tried as a new user would.
#include <regex>
#include <thread>

#include "experiments/run/run_files.h"
#include "experiments/runs/removal.h"
#include "experiments/runs/run_list.h"
#include "experiments/sweep/plan.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::sweeps_test {
namespace {

using Words = std::vector<std::string>;

void expect_lacks(const std::string& text, const std::string& part) {
  EXPECT_EQ(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

/// How many lines begin with one text and hold another.
int lines_with(const std::string& text, const std::string& start, const std::string& part) {
  std::istringstream lines(text);
  int n = 0;
  for (std::string line; std::getline(lines, line);)
    n += line.starts_with(start) && line.find(part) != std::string::npos;
  return n;
}

class Sweeping : public Program {
 public:
  Sweeping(const std::string& name, const std::string& sweep, const std::string& base = sweep_base)
      : Program("everyday_" + name) {
    write("base.toml", base);
    write("s.toml", sweep);
  }
};

TEST(Papercut3, a_diverged_trial_is_called_diverged_everywhere_with_its_step) {
  const Sweeping program("diverged", R"(
base = "base.toml"
[grid]
optim.lr = [1000.0, 1e-3]
)");
  const Words sweep = {"sweep", "s.toml", "optim.kind=sgd", "optim.clip=0", "train.eval_every=0"};
  const Outcome outcome = program.run(sweep);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  expect_holds(outcome.out, {"DIVERGED  ", "lr=1000", "diverged at step ", "1 done, 1 diverged"});
  expect_lacks(outcome.out, "damaged");
  const Outcome again = program.run(sweep);
  expect_holds(again.out, {"1 done, 1 diverged"});
  expect_lacks(again.out, "DIVERGED  ");  // it is not trained again
  const Outcome report = program.run({"report", "sweeps/s", "-o", "r.html,r.md"});
  expect_holds(report.out, {"1 diverged at step "});
  for (const char* file : {"r.html", "r.md"}) {
    const std::string text = read_text(program.directory() / file);
    expect_holds(text, {"diverged at step "});
    expect_lacks(text, "damaged");
  }
  const std::string page = read_text(program.directory() / "r.html");
  expect_holds(page, {">1 diverged</span>", "<td>diverged</td>"});
  expect_lacks(page, "1 failed");
  expect_lacks(page, "<td>failed</td>");
  const Outcome watched = program.run({"watch", "sweeps/s", "--tui"});
  expect_holds(watched.out, {"1 diverged, 1 done", "diverged at step "});
  expect_lacks(watched.out, "failed");
  const Outcome status = program.run({"sweep", "s.toml", "--status"});
  expect_holds(status.out, {"diverged  ", "diverged at step ", "1 done, 1 diverged"});
  int diverged = 0;
  for (const auto& run :
       std::filesystem::directory_iterator(program.directory() / "sweeps/s/trials"))
    diverged += read_status({run.path()}).state == "diverged";
  EXPECT_EQ(diverged, 1);
}

TEST(Row7, every_trial_of_a_sweep_leaves_a_log) {
  const Sweeping program("logs", "base = \"base.toml\"\n[grid]\noptim.lr = [1e-3, 1000.0]\n");
  program.run({"sweep", "s.toml", "optim.kind=sgd", "optim.clip=0"});
  int logs = 0;
  for (const auto& config :
       std::filesystem::directory_iterator(program.directory() / "sweeps/s/configs")) {
    const std::string id = config.path().stem().string();
    const std::string log = read_text(program.directory() / "sweeps/s/logs" / (id + ".log"));
    EXPECT_GT(occurrences(log, "step "), 0u) << id << ": " << log;
    ++logs;
  }
  EXPECT_EQ(logs, 2);
}

TEST(Row6, a_slim_sweep_keeps_weights_only_and_the_same_scores) {
  const Sweeping program("slim", "base = \"base.toml\"\n[grid]\noptim.lr = [1e-3, 3e-3]\n");
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "whole"}).code, 0);
  const Outcome slim = program.run({"sweep", "s.toml", "--dir", "slim", "--slim"});
  ASSERT_EQ(slim.code, 0) << slim.err;
  const SweepFiles whole{program.directory() / "whole"}, slimmed{program.directory() / "slim"};
  for (const PlannedTrial& trial : read_plan(whole).trials) {
    EXPECT_EQ(read_text(slimmed.score(trial.id)), read_text(whole.score(trial.id)));
    EXPECT_LT(summarise_run(slimmed.run(trial.id)).bytes, summarise_run(whole.run(trial.id)).bytes);
    EXPECT_EQ(slim_run(slimmed.run(trial.id)), 0) << "nothing is left to gain";
  }
  const Outcome again = program.run({"sweep", "s.toml", "--dir", "slim", "--slim"});
  expect_holds(again.out, {"2 done"});
  expect_lacks(again.out, "done    ");
}

TEST(Papercut11, numbers_of_an_unfinished_sweep_are_marked) {
  const Sweeping program("unfinished", R"(
base = "base.toml"
seeds = [1, 2]
[grid]
model.attention = ["dense", "local"]
optim.lr = [1e-3, 3e-3]
)");
  ASSERT_EQ(program.run({"sweep", "s.toml"}).code, 0);
  const Outcome whole = program.run({"report", "sweeps/s", "--baseline", "dense"});
  expect_lacks(whole.out, " *");
  expect_holds(whole.out, {"ahead is "});
  // One trial of the local attention goes back to where it had not begun.
  std::string victim;
  for (const auto& config :
       std::filesystem::directory_iterator(program.directory() / "sweeps/s/configs"))
    if (read_text(config.path()).find("attention = [\"local\"]") != std::string::npos)
      victim = config.path().stem().string();
  ASSERT_NE(victim, "");
  std::filesystem::remove_all(program.directory() / "sweeps/s/trials" / victim);
  std::filesystem::remove(program.directory() / "sweeps/s/scores" / (victim + ".json"));
  const Outcome part = program.run(
      {"report", "sweeps/s", "--baseline", "dense", "-o", "r.html,r.md,r.tex,r.csv,pictures/"});
  expect_holds(part.out, {" *", "can still change", "ahead so far is "});
  std::istringstream lines(part.out);
  int marked = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("dense ")) expect_lacks(line, " *");
    if (line.starts_with("local ") && line.find(" *") != std::string::npos) ++marked;
  }
  EXPECT_EQ(marked, 2) << "in the results and in what was measured: " << part.out;
  const auto file = [&](const char* name) { return read_text(program.directory() / name); };
  // Every table that has the name, the numbers of the first, the pair, and every curve.
  EXPECT_EQ(occurrences(file("r.html"), "<td>local *</td>"), 2u);
  EXPECT_GE(occurrences(file("r.html"), ">local *</text>"), 3u);
  EXPECT_EQ(occurrences(file("r.html"), ">dense *<"), 0u);
  EXPECT_EQ(lines_with(file("r.md"), "| local \\* |", ""), 1);
  EXPECT_EQ(lines_with(file("r-times.md"), "| local \\* |", ""), 1);
  EXPECT_EQ(lines_with(file("r.tex"), "local * &", ""), 1);
  EXPECT_EQ(lines_with(file("r-times.tex"), "local * &", ""), 1);
  // The pair, in either order.
  const auto pairs = [&](const std::string& text, const std::string& a, const std::string& b) {
    return lines_with(text, a + "dense" + b + "local", " *") +
           lines_with(text, a + "local" + b + "dense", " *");
  };
  EXPECT_EQ(pairs(file("r.html"), "<tr><td>", "</td><td>"), 1);
  EXPECT_EQ(pairs(std::regex_replace(file("r.md"), std::regex(R"(\\\*)"), "*"), "| ", " | "), 1);
  EXPECT_EQ(pairs(file("r.tex"), "", " & "), 1);
  EXPECT_GE(occurrences(file("pictures/s-curves.svg"), "local *"), 1u);
  for (const char* const name : {"r.csv", "r-times.csv"}) {
    const std::string text = file(name);
    expect_holds(text.substr(0, text.find('\n')), {",can_change"});
    EXPECT_EQ(lines_with(text, "s,local,", ",yes"), lines_with(text, "s,local,", "")) << text;
    EXPECT_EQ(lines_with(text, "s,dense,", ",yes"), 0) << text;
    EXPECT_GT(lines_with(text, "s,local,", ""), 0);
  }
  expect_holds(file("r-pairs.csv"), {",can_change\n", ",yes\n"});
}

TEST(Papercut13, mistakes_of_a_sweep_its_base_and_its_axes_come_at_once) {
  const Sweeping program("mistakes",
                         "base = \"base.toml\"\nsedes = 3\n[grid]\n"
                         "model.attention = [\"locl\", \"dense\"]\noptim.lrr = [1, 2]\n",
                         std::string(sweep_base) + "[sample]\nevery_step = 3\n");
  const Outcome outcome = program.run({"sweep", "s.toml"});
  EXPECT_EQ(outcome.code, 2);
  expect_holds(outcome.err, {"4 problems", "sedes", "did you mean seeds", "locl", "optim.lrr",
                             "did you mean optim.lr", "sample.every_step"});
}

TEST(Papercut15, one_seed_is_a_sweep_of_one_seed) {
  const Sweeping program("seeds", R"(
base = "base.toml"
seeds = 1
[grid]
optim.lr = [1e-3, 3e-3]
)");
  const Outcome outcome = program.run({"sweep", "s.toml", "--dry-run"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expect_holds(outcome.out, {"2 trials"});
}

TEST(Papercut15, one_thread_a_trial_is_no_plural) {
  const Sweeping program("threads", "base = \"base.toml\"\n[grid]\noptim.lr = [1e-3, 3e-3]\n");
  // As many trials at a time as there are cores.
  const std::string jobs = std::to_string(std::thread::hardware_concurrency());
  ASSERT_EQ(program.run({"sweep", "s.toml", "-j", jobs}).code, 0);
  ASSERT_EQ(program.run({"report", "sweeps/s", "-o", "r.html"}).code, 0);
  const std::string page = read_text(program.directory() / "r.html");
  expect_holds(page, {", 1 thread a trial, "});
  expect_lacks(page, "1 threads");
}

}  // namespace
}  // namespace weft::experiments::sweeps_test
