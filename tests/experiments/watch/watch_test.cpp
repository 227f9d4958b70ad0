#include "core/error.h"
#include "experiments/watch/watched.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::watch_test {
namespace {

namespace fs = std::filesystem;

TEST(Watched, finds_what_appears_later_and_what_comes_back) {
  const Program program("watched");
  program.write("c.toml", sweep_base);
  Watched watched(program.directory() / "r");
  EXPECT_NE(watched_body(watched.look()).find("Nothing is there yet"), std::string::npos);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "r"}).code, 0);
  WatchedState state = watched.look();
  ASSERT_EQ(state.runs.size(), 1u);
  EXPECT_EQ(state.runs[0].state, "finished");
  fs::rename(program.directory() / "r", program.directory() / "gone");
  EXPECT_TRUE(watched.look().runs.empty());
  fs::rename(program.directory() / "gone", program.directory() / "r");
  EXPECT_EQ(watched.look().runs.size(), 1u);
  // A killed one says "running" in its file.
  program.write("r/status.json", R"({"program":"weft","format":1,"state":"running","step":4})");
  EXPECT_EQ(watched.look().runs[0].state, "killed");
  program.write("r/metrics.jsonl", "{\"step\":1,\"los");
  EXPECT_EQ(watched.look().runs.size(), 1u);
}

TEST(Watched, has_every_trial_of_a_sweep) {
  const Program program("watched_sweep");
  program.write("base.toml", sweep_base);
  program.write("s.toml",
                "base = \"base.toml\"\n[grid]\nmodel.attention = [\"dense\", \"local\"]\n");
  ASSERT_EQ(program.run({"sweep", "s.toml"}).code, 0);
  Watched watched(program.directory() / "sweeps/s");
  const WatchedState state = watched.look();
  ASSERT_EQ(state.trials.size(), 2u);
  EXPECT_EQ(state.trials[0].state, "done");
  EXPECT_EQ(state.trials[0].steps, 12);
  const std::string body = watched_body(state);
  EXPECT_NE(body.find("2 trials: 2 done"), std::string::npos) << body.substr(0, 400);
  EXPECT_NE(body.find("class=\"mark\""), std::string::npos);
  // Curves have the names of settings, and columns without a word are left out.
  EXPECT_NE(body.find("Curves of all trials"), std::string::npos);
  EXPECT_EQ(state.runs.at(0).name, "dense");
  EXPECT_NE(body.find(">local</text>"), std::string::npos);
  EXPECT_NE(body.find("<th>best loss</th>"), std::string::npos);
  EXPECT_EQ(body.find("<th>reason</th>"), std::string::npos);
  EXPECT_EQ(watched_lines(state).at(0), "s  2 trials: 2 done");
  const Outcome lines = program.run({"watch", "sweeps/s", "--tui"});
  EXPECT_EQ(lines.code, 0) << lines.err;
  EXPECT_EQ(lines.out, "s  2 trials: 2 done\n");
}

TEST(Watched, draws_a_curve_in_one_line) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline({7, 7, 0, 0}, 2), "█▁");
  EXPECT_EQ(sparkline({}, 4), "");
}

}  // namespace
}  // namespace weft::experiments::watch_test
