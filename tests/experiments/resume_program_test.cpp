#include <sys/resource.h>

#include <csignal>

#include "core/rng.h"
#include "experiments/checkpoint/file.h"
#include "experiments/run/metrics_log.h"
#include "tests/experiments/program.h"

namespace weft::experiments::resume_program_test {
namespace {

/// Parameters and moments of the newest checkpoint.
std::map<std::string, std::vector<core::Real>> final_arrays(const std::filesystem::path& run) {
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(run / "checkpoints"))
    if (entry.path().extension() == ".h5" && entry.path() > newest) newest = entry.path();
  std::map<std::string, std::vector<core::Real>> arrays;
  for (auto& [name, array] : load_checkpoint(newest).arrays) arrays[name] = array.values;
  return arrays;
}

std::vector<double> losses(const std::filesystem::path& run) {
  std::vector<double> all;
  for (const MetricRecord& record : read_metrics(run / "metrics.jsonl"))
    if (record.has("loss")) all.push_back(record.number("loss"));
  return all;
}

TEST(Resume, verify_resume_finds_every_bit_equal) {
  const Program program("verify");
  program.write("tiny.toml", tiny_config);
  const Outcome outcome =
      program.run({"verify-resume", "tiny.toml", "--at", "20", "--steps", "40"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("40 steps against 20 + 20"), std::string::npos);
  EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
}

TEST(Resume, verify_resume_takes_the_first_steps_of_the_run_with_its_own_schedule) {
  const Program program("verify_first");
  program.write("tiny.toml", tiny_config);
  // A warm-up that is longer than what is trained, and a budget that is not counted in steps.
  const Outcome warming = program.run(
      {"verify-resume", "tiny.toml", "--steps", "6", "optim.warmup=50", "optim.schedule=cosine"});
  EXPECT_EQ(warming.code, 0) << warming.out << warming.err;
  EXPECT_NE(warming.out.find("6 steps against 3 + 3"), std::string::npos) << warming.out;
  const Outcome timed = program.run(
      {"verify-resume", "tiny.toml", "--steps", "4", "train.steps=0", "train.minutes=0.05"});
  EXPECT_EQ(timed.code, 0) << timed.out << timed.err;
  const Outcome short_run = program.run({"verify-resume", "tiny.toml", "train.steps=4"});
  EXPECT_EQ(short_run.code, 0) << short_run.out << short_run.err;
  EXPECT_NE(short_run.out.find("4 steps against 2 + 2"), std::string::npos) << short_run.out;
  const Outcome beyond = program.run({"verify-resume", "tiny.toml", "--steps", "61"});
  EXPECT_EQ(beyond.code, 2);
  EXPECT_NE(beyond.err.find("has only 60"), std::string::npos) << beyond.err;
}

TEST(Resume, verify_resume_finds_every_bit_equal_in_a_reversible_stack_with_dropout) {
  const Program program("verify_reversible");
  program.write("tiny.toml", tiny_config);
  const Outcome outcome =
      program.run({"verify-resume", "tiny.toml", "--at", "20", "--steps", "40",
                   "model.reversible=true", "model.reversible_output=concat", "model.tie=false",
                   "model.dropout=0.2", "train.accumulate=2"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
}

TEST(Resume, verify_resume_finds_every_bit_equal_with_centroids_that_move_and_are_reseeded) {
  const Program program("verify_routing");
  program.write("tiny.toml", std::string(tiny_config) + R"(
[attention.routed]
kind = "routing"
clusters = "7"
chunk = 8
decay = 0.9
commitment = 1e-3
reseed_after = 3
)");
  const Outcome outcome = program.run(
      {"verify-resume", "tiny.toml", "--at", "20", "--steps", "40", "model.attention=routed",
       "model.reversible=true", "model.tie=false", "model.dropout=0.2", "train.accumulate=2"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
}

TEST(Resume, verify_resume_finds_every_bit_equal_where_segments_carry_their_past) {
  const Program program("verify_recurrence");
  program.write("tiny.toml", tiny_config);
  for (const std::string attention :
       {"fixed_span", "adaptive_span", "dynamic_span", "gated_deltanet"}) {
    const Outcome outcome = program.run({"verify-resume", "tiny.toml", "--at", "7", "--steps", "14",
                                         "model.segment_memory=true", "model.positions=none",
                                         "model.attention=" + attention, "data.stream=96",
                                         "optim.kind=adagrad", "optim.lr=0.07"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
  }
}

TEST(Resume, a_run_killed_twenty_times_ends_in_the_same_bits) {
  const Program program("kill");
  program.write("tiny.toml", tiny_config);
  // Long enough to be killed often; checkpoints come often enough to get on between kills.
  const std::vector<std::string> length = {"train.steps=800", "train.eval_every=200",
                                           "train.checkpoint_every=4"};
  const auto train = [&](const std::string& directory) {
    std::vector<std::string> words = {"train", "tiny.toml", "--run", directory};
    words.insert(words.end(), length.begin(), length.end());
    return words;
  };
  ASSERT_EQ(program.run(train("straight")).code, 0);

  const core::Rng rng(17);
  int kills = 0;
  for (std::uint64_t attempt = 0; attempt < 200; ++attempt) {
    std::vector<std::string> words = train("killed");
    // A kill may come before the run directory exists: --continue begins it then.
    words.push_back("--continue");
    const pid_t child = program.start(words);
    if (kills < 20) {
      usleep(useconds_t(100'000 + 200'000 * rng.uniform(attempt)));
      kill(child, SIGKILL);
    }
    const Outcome outcome = program.wait(child);
    if (outcome.code == 0) break;
    ASSERT_EQ(outcome.code, 128 + SIGKILL) << outcome.out << outcome.err;
    ++kills;
  }
  EXPECT_GE(kills, 5);  // fewer than twenty only where the run was quicker than the kills
  EXPECT_EQ(final_arrays(program.directory() / "killed"),
            final_arrays(program.directory() / "straight"));
  EXPECT_EQ(losses(program.directory() / "killed"), losses(program.directory() / "straight"));
}

TEST(Resume, a_run_killed_before_its_first_checkpoint_measures_each_step_once) {
  const Program program("early");
  program.write("tiny.toml", tiny_config);
  const auto train = [](const std::string& directory) {
    return std::vector<std::string>{"train",
                                    "tiny.toml",
                                    "--run",
                                    directory,
                                    "train.steps=200",
                                    "train.eval_every=0",
                                    "train.checkpoint_every=1000"};
  };
  ASSERT_EQ(program.run(train("straight")).code, 0);
  const pid_t child = program.start(train("killed"));
  const auto has_measured = [&] {
    std::error_code absent;
    const auto size =
        std::filesystem::file_size(program.directory() / "killed/metrics.jsonl", absent);
    return !absent && size > 0;
  };
  for (int ms = 0; ms < 60'000 && !has_measured(); ++ms) usleep(1000);
  kill(child, SIGKILL);
  ASSERT_EQ(program.wait(child).code, 128 + SIGKILL);
  std::vector<std::string> again = train("killed");
  again.push_back("--resume");
  const Outcome outcome = program.run(again);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(losses(program.directory() / "killed"), losses(program.directory() / "straight"));
}

TEST(Resume, a_signal_saves_at_the_next_step_and_the_exit_code_names_it) {
  const Program program("signal");
  program.write("tiny.toml", tiny_config);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const std::string run = "run" + std::to_string(number);
    // Whoever started this test under nohup ignores SIGHUP, and children would too.
    const pid_t child = program.start({"train", "tiny.toml", "--run", run, "train.steps=100000",
                                       "train.eval_every=0", "train.checkpoint_every=0"},
                                      [number] { signal(number, SIG_DFL); });
    while (read_metrics(program.directory() / run / "metrics.jsonl").empty()) usleep(10'000);
    kill(child, number);
    const Outcome outcome = program.wait(child);
    EXPECT_EQ(outcome.code, 128 + number) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("saved step"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find('\r'), std::string::npos);
    EXPECT_FALSE(final_arrays(program.directory() / run).empty());
  }
}

TEST(Resume, a_damaged_newest_checkpoint_is_named_and_the_one_before_is_used) {
  const Program program("damage");
  program.write("tiny.toml", tiny_config);
  const std::vector<std::string> train = {"train", "tiny.toml", "--run", "run"};
  ASSERT_EQ(program.run(train).code, 0);
  const auto newest = program.directory() / "run/checkpoints/ckpt-00000060.h5";
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) / 2);
  std::vector<std::string> again = train;
  again.push_back("--resume");
  const Outcome outcome = program.run(again);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("ckpt-00000060.h5"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("resumed step 55"), std::string::npos) << outcome.out;
}

TEST(Resume, a_full_disk_leaves_the_previous_checkpoint_and_exits_5) {
  const Program program("full");
  program.write("tiny.toml", tiny_config);
  ASSERT_EQ(program.run({"train", "tiny.toml", "--run", "run", "train.steps=30"}).code, 0);
  const auto before = final_arrays(program.directory() / "run");
  const Outcome outcome =
      program.run({"train", "tiny.toml", "--run", "run", "--resume", "train.steps=60"}, [] {
        const rlimit limit{32 * 1024, 32 * 1024};
        setrlimit(RLIMIT_FSIZE, &limit);
      });
  EXPECT_EQ(outcome.code, 5) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("error:"), std::string::npos);
  EXPECT_EQ(final_arrays(program.directory() / "run"), before);
}

}  // namespace
}  // namespace weft::experiments::resume_program_test
