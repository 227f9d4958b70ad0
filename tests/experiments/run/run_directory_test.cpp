#include "experiments/run/run_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "experiments/run/metrics_log.h"
#include "tests/experiments/checkpoint/checkpoint_sample.h"

namespace weft::experiments::run_directory_test {
namespace {

namespace fs = std::filesystem;

const std::string command = "weft train configs/demo.toml";

std::string refusal(const fs::path& directory, RunStart start) {
  return message_when([&] { RunDirectory::open(directory, start, command); });
}

/// A run with something in every place.
RunFiles finished_run(const fs::path& directory) {
  const RunDirectory run = RunDirectory::open(directory, RunStart::anew, command);
  const RunFiles& files = run.files();
  core::write_durably(files.config(), "seed = 1\n");
  core::write_durably(files.samples() / "00000010.txt", "sample");
  core::write_durably(files.checkpoints() / "ckpt-00000010.h5", "checkpoint");
  MetricsLog(files.metrics()).append({10, {{"loss", 1.0}}});
  record_start(files, describe_machine());
  write_status(files, {"finished", 10});
  return files;
}

TEST(RunDirectory, begins_anew_where_nothing_is) {
  const fs::path directory = fresh_directory() / "runs" / "demo-12345678";
  EXPECT_FALSE(holds_run(directory));
  const RunDirectory run = RunDirectory::open(directory, RunStart::anew, command);
  EXPECT_TRUE(holds_run(directory));
  EXPECT_TRUE(fs::is_directory(run.files().samples()));
  EXPECT_TRUE(fs::is_directory(run.files().checkpoints()));
  EXPECT_EQ(read_status(run.files()).state, "running");
}

TEST(RunDirectory, refuses_to_reuse_a_run_and_says_which_commands_do) {
  const fs::path directory = fresh_directory() / "run";
  finished_run(directory);
  const std::string text = refusal(directory, RunStart::anew);
  EXPECT_TRUE(contains(text, "finished, step 10")) << text;
  EXPECT_TRUE(contains(text, command + " --resume")) << text;
  EXPECT_TRUE(contains(text, command + " --fresh")) << text;
  EXPECT_TRUE(fs::exists(directory / "samples" / "00000010.txt"));
}

TEST(RunDirectory, resumes_a_run_as_it_is) {
  const fs::path directory = fresh_directory() / "run";
  EXPECT_TRUE(contains(refusal(directory, RunStart::resume), "no run to resume"));
  EXPECT_FALSE(fs::exists(directory));
  finished_run(directory);
  const RunDirectory run = RunDirectory::open(directory, RunStart::resume, command);
  EXPECT_EQ(core::read_text_file(run.files().config()), "seed = 1\n");
  EXPECT_EQ(read_status(run.files()).step, 10);
  EXPECT_EQ(read_metrics(run.files().metrics()).size(), 1u);
}

TEST(RunDirectory, starts_fresh_by_deleting_what_weft_wrote_and_nothing_else) {
  const fs::path directory = fresh_directory() / "run";
  const RunFiles files = finished_run(directory);
  core::write_durably(directory / "notes.txt", "mine");
  const RunDirectory run = RunDirectory::open(directory, RunStart::fresh, command);
  EXPECT_TRUE(fs::exists(directory / "notes.txt"));
  EXPECT_TRUE(fs::is_empty(files.checkpoints()));
  EXPECT_TRUE(fs::is_empty(files.samples()));
  for (const fs::path& path : {files.config(), files.metrics(), files.environment()})
    EXPECT_FALSE(fs::exists(path)) << path;
  EXPECT_EQ(read_status(files).step, 0);
}

TEST(RunDirectory, never_touches_a_directory_with_other_things_in_it) {
  const fs::path directory = fresh_directory();
  core::write_durably(directory / "thesis.tex", "mine");
  core::write_durably(directory / "status.json", "{\"program\": 3}");
  for (const RunStart start : {RunStart::anew, RunStart::fresh, RunStart::resume})
    EXPECT_FALSE(refusal(directory, start).empty());
  EXPECT_TRUE(contains(refusal(directory, RunStart::fresh), "--run DIR"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 2);
}

TEST(RunDirectory, begins_where_a_start_was_killed) {
  const fs::path directory = fresh_directory();
  core::write_durably(directory / "lock", "process 1 on a");
  core::write_durably(directory / "status.json.tmp", "{");
  EXPECT_EQ(refusal(directory, RunStart::anew), "");
}

TEST(RunDirectory, is_held_by_one_process_at_a_time) {
  const fs::path directory = fresh_directory() / "run";
  {
    const RunDirectory run = RunDirectory::open(directory, RunStart::anew, command);
    for (const RunStart start : {RunStart::anew, RunStart::resume, RunStart::fresh}) {
      const std::string text = refusal(directory, start);
      EXPECT_TRUE(contains(text, "another process is training there")) << text;
      EXPECT_TRUE(contains(text, std::to_string(::getpid()))) << text;
    }
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(contains(refusal(directory, RunStart::resume), "another process") ? 0 : 1);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(refusal(directory, RunStart::resume), "");
}

TEST(RunDirectory, says_when_it_cannot_be_created) {
  const fs::path directory = fresh_directory();
  core::write_durably(directory / "file", "in the way");
  const std::string text = refusal(directory / "file" / "run", RunStart::anew);
  EXPECT_TRUE(contains(text, "file/run")) << text;
  EXPECT_TRUE(contains(text, "--run DIR")) << text;
}

TEST(RunFiles, name_a_run_after_the_hash_of_its_config) {
  EXPECT_EQ(run_path("runs", "demo", "3fa91c0211223344"), "runs/demo-3fa91c02");
}

TEST(RunFiles, record_every_start_with_its_machine) {
  const RunFiles files{fresh_directory()};
  EXPECT_TRUE(read_starts(files).empty());
  Facts facts = describe_machine();
  facts["threads"] = std::int64_t(2);
  record_start(files, facts);
  facts["threads"] = std::int64_t(1);
  facts["isa"] = std::string("avx2");
  record_start(files, facts);
  const auto starts = read_starts(files);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(std::get<std::int64_t>(starts[0].at("threads")), 2);
  EXPECT_EQ(std::get<std::string>(starts[1].at("isa")), "avx2");
  for (const char* name : {"cpu", "cores", "host", "system", "time"})
    EXPECT_TRUE(starts[0].contains(name)) << name;
}

TEST(RunFiles, find_only_runs) {
  const fs::path directory = fresh_directory();
  EXPECT_TRUE(contains(message_when([&] { find_run(directory / "absent"); }), "no such directory"));
  EXPECT_TRUE(contains(message_when([&] { find_run(directory); }), "status.json"));
  finished_run(directory / "run");
  EXPECT_EQ(find_run(directory / "run").directory, directory / "run");
}

TEST(RunFiles, an_old_status_that_kept_reason_and_advice_in_one_text_is_read) {
  const fs::path directory = fresh_directory();
  core::write_durably(directory / "status.json",
                      "{\"program\": \"weft\", \"format\": 1, \"state\": \"failed\", "
                      "\"step\": 3, \"detail\": \"it diverged. Lower optim.lr\"}");
  const RunStatus old = read_status({directory});
  EXPECT_EQ(old.reason, "it diverged. Lower optim.lr");
  EXPECT_EQ(old.advice, "");
  write_status({directory}, {"failed", 3, "it diverged", "Lower optim.lr"});
  const RunStatus status = read_status({directory});
  EXPECT_EQ(status.reason, "it diverged");
  EXPECT_EQ(status.advice, "Lower optim.lr");
}

}  // namespace
}  // namespace weft::experiments::run_directory_test
