// The store against killed writers and full disks, each in a process of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/error.h"
#include "experiments/checkpoint/store.h"
#include "tests/experiments/checkpoint/checkpoint_sample.h"

namespace weft::experiments::checkpoint_store_crash_test {
namespace {

namespace fs = std::filesystem;

/// Runs `work` in a child process, which ends with its result as exit code.
template <class Work>
pid_t in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  if (child < 0) throw std::runtime_error("fork failed");  // kill(-1) would reach everything
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(CheckpointStoreCrash, always_loads_a_whole_checkpoint_after_the_writer_is_killed) {
  const auto directory = fresh_directory();
  CheckpointStore(directory, 2, 1).save(SampleRun(0).snapshot, 100.0);
  core::Index newest = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const pid_t child = in_child([&] {
      CheckpointStore store(directory, 2, 1);
      std::vector<std::string> warnings;
      for (core::Index step = store.load_last(warnings).step + 1;; ++step)
        store.save(SampleRun(step).snapshot, 100.0 - double(step % 7));
      return 0;
    });
    ::usleep(useconds_t(5000 + core::Rng(9).below(round, 60000)));
    ::kill(child, SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(status_of(child)));
    CheckpointStore store(directory, 2, 1);
    std::vector<std::string> warnings;
    const Checkpoint loaded = store.load_last(warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    EXPECT_TRUE(SampleRun(loaded.step).equals(loaded));
    EXPECT_GE(loaded.step, newest);
    newest = loaded.step;
    const Checkpoint best = store.load_best(warnings);
    EXPECT_TRUE(SampleRun(best.step).equals(best));
  }
}

TEST(CheckpointStoreCrash, keeps_the_previous_checkpoint_when_the_disk_is_full) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 1, 0);
  const fs::path previous = store.save(SampleRun(1).snapshot).path;
  const int status = status_of(in_child([&] {
    core::ignore_file_size_signal();
    const rlimit limit{rlim_t(fs::file_size(previous) / 2), rlim_t(fs::file_size(previous) / 2)};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      store.save(SampleRun(2).snapshot);
    } catch (const core::Error& error) {
      const std::string text = error.what();
      const bool clear = contains(text, "ckpt-00000002.h5") && contains(text, "file-size limit") &&
                         contains(text, "ckpt-00000001.h5, is intact") &&
                         contains(text, "--resume");
      return error.fault() == core::Fault::checkpoint && clear ? 5 : 1;
    }
    return 2;
  }));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
  std::vector<std::string> warnings;
  EXPECT_TRUE(SampleRun(1).equals(CheckpointStore(directory, 1, 0).load_last(warnings)));
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 2);
}

TEST(CheckpointStoreCrash, says_when_there_is_no_directory_to_write_to) {
  const auto directory = fresh_directory();
  core::write_durably(directory / "file", "in the way");
  const auto save = [&] {
    CheckpointStore(directory / "file" / "checkpoints", 1, 0).save(SampleRun(1).snapshot);
  };
  EXPECT_TRUE(contains(message_when(save), "file/checkpoints"));
}

}  // namespace
}  // namespace weft::experiments::checkpoint_store_crash_test
