#include "experiments/hold/directory_lock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "tests/experiments/checkpoint/checkpoint_sample.h"
#include "tests/no_more_files.h"

namespace {
int failure_of_flock = 0, failure_of_link = 0;
bool is_slow = false;        // links take so long that all who race have looked before
bool loses_replies = false;  // of links that are made

int refuse(int error) {
  errno = error;
  return -1;
}
}  // namespace

// In place of the C library's, for all tests of this binary: as it, unless told to fail.
extern "C" int flock_or_failure(int file, int operation) __asm__("flock");
extern "C" int flock_or_failure(int file, int operation) {
  return failure_of_flock ? refuse(failure_of_flock) : int(syscall(SYS_flock, file, operation));
}
extern "C" int link_or_failure(const char* from, const char* to) __asm__("link");
extern "C" int link_or_failure(const char* from, const char* to) {
  if (failure_of_link) return refuse(failure_of_link);
  if (is_slow) usleep(300'000);
  const int made = int(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  return made == 0 && loses_replies ? refuse(EEXIST) : made;
}

namespace weft::experiments::directory_lock_test {
namespace {

namespace fs = std::filesystem;

/// File systems of clusters: with flock, and without.
class DirectoryLockTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { failure_of_flock = GetParam(); }
  void TearDown() override {
    failure_of_flock = failure_of_link = 0;
    for (const char* name : {"PATH", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"})
      if (const auto found = before_.find(name); found != before_.end()) {
        if (found->second.empty())
          unsetenv(name);
        else
          setenv(name, found->second.c_str(), 1);
      }
  }
  void set(const char* name, const std::string& value) {
    const char* old = getenv(name);
    before_.emplace(name, old ? old : "");
    setenv(name, value.c_str(), 1);
  }
  /// Lets `squeue` be a script of this text.
  void let_squeue_be(const std::string& script) {
    const fs::path folder = fresh_directory();
    std::ofstream(folder / "squeue") << "#!/bin/sh\n" << script << "\n";
    ::chmod((folder / "squeue").c_str(), 0755);
    set("PATH", folder.string() + ":" + getenv("PATH"));
  }

  const fs::path directory_ = fresh_directory();
  std::string holder_;

 private:
  std::map<std::string, std::string> before_;
};

/// A claim that another machine left, last touched some seconds ago.
void leave_claim(const fs::path& directory, Holder holder, int seconds_ago = 0) {
  if (holder.machine.empty()) holder.machine = "another boot";
  if (holder.host.empty()) holder.host = "far";
  if (holder.token.empty()) holder.token = "abc";
  core::write_durably(directory / "claim", holder.json());
  core::write_durably(directory / "lock", "");
  const timespec then{std::time(nullptr) - seconds_ago, 0};
  const timespec times[2] = {then, then};
  ::utimensat(AT_FDCWD, (directory / "claim").c_str(), times, 0);
}

/// How many of 20 processes that start together get the directory; the one that does keeps it until
/// all have tried.
int winners_of_race(const fs::path& directory) {
  constexpr int racers = 20;
  int go[2], tried[2], end[2];
  if (pipe(go) != 0 || pipe(tried) != 0 || pipe(end) != 0) return -1;
  std::vector<pid_t> children;
  for (int i = 0; i < racers; ++i) {
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
      close(go[1]);
      close(end[1]);
      char byte = 0;
      is_slow = true;
      const ssize_t started = read(go[0], &byte, 1);  // ends when the parent closes it
      std::string holder;
      const auto lock = DirectoryLock::take(directory, holder);
      const ssize_t said = write(tried[1], &byte, 1);
      const ssize_t ended = read(end[0], &byte, 1);
      _exit(lock && started == 0 && said == 1 && ended == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  close(go[1]);
  close(tried[1]);
  char byte = 0;
  for (int i = 0; i < racers; ++i)
    if (read(tried[0], &byte, 1) != 1) return -1;
  close(end[1]);
  int winners = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    winners += status == 0;
  }
  for (const int file : {go[0], tried[0], end[0]}) close(file);
  return winners;
}

TEST_P(DirectoryLockTest, of_20_processes_that_race_one_holds_it) {
  EXPECT_EQ(winners_of_race(directory_), 1);
  // The winner was not ended in order: its claim is a dead one, for which all race again.
  EXPECT_TRUE(fs::exists(directory_ / "claim"));
  EXPECT_EQ(winners_of_race(directory_), 1);
  EXPECT_EQ(winners_of_race(directory_), 1);
}

TEST_P(DirectoryLockTest, a_directory_given_free_has_no_claim_and_can_be_held_again) {
  ASSERT_EQ(winners_of_race(directory_), 1);
  for (int i = 0; i < 2; ++i) {
    const auto lock = DirectoryLock::take(directory_, holder_);
    ASSERT_TRUE(lock.has_value()) << holder_;
    lock->require_held();
    EXPECT_TRUE(DirectoryLock::is_held(directory_));
    EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value());
    EXPECT_EQ(holder_, core::message_of("process ", getpid(), " on ", Holder::own().host));
  }
  EXPECT_FALSE(DirectoryLock::is_held(directory_));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1) << "the file lock";
}

TEST_P(DirectoryLockTest,
       a_living_holder_elsewhere_is_respected_until_it_is_silent_for_10_minutes) {
  leave_claim(directory_, {.process = 7});
  EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value());
  EXPECT_EQ(holder_, "process 7 on far");
  EXPECT_TRUE(DirectoryLock::is_held(directory_));
  leave_claim(directory_, {.process = 7}, 590);
  EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value());
  leave_claim(directory_, {.process = 7}, 610);
  EXPECT_FALSE(DirectoryLock::is_held(directory_));
  EXPECT_TRUE(DirectoryLock::take(directory_, holder_).has_value());
}

TEST_P(DirectoryLockTest, a_process_number_that_another_process_has_by_now_holds_nothing) {
  Holder own = Holder::own();
  leave_claim(directory_, own);
  EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value()) << "it is this very process";
  EXPECT_TRUE(DirectoryLock::is_held(directory_));
  own.started += 1;
  leave_claim(directory_, own);
  EXPECT_FALSE(DirectoryLock::is_held(directory_));
  EXPECT_TRUE(DirectoryLock::take(directory_, holder_).has_value()) << holder_;
}

TEST_P(DirectoryLockTest, a_holder_whose_start_is_not_known_holds_as_long_as_it_lives) {
  Holder own = Holder::own();
  own.started = 0;
  leave_claim(directory_, own);
  EXPECT_TRUE(DirectoryLock::is_held(directory_));
  EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value());
}

TEST_P(DirectoryLockTest, a_holder_that_can_open_no_file_now_is_not_told_that_it_was_taken_over) {
  const auto lock = DirectoryLock::take(directory_, holder_);
  ASSERT_TRUE(lock.has_value()) << holder_;
  {
    const NoMoreFiles limit;
    const std::string refusal = message_when([&] { lock->require_held(); });
    EXPECT_TRUE(contains(refusal, "ulimit -n")) << refusal;
    EXPECT_FALSE(contains(refusal, "taken over")) << refusal;
  }
  lock->require_held();
}

TEST_P(DirectoryLockTest, a_process_that_has_ended_holds_nothing_though_nobody_collected_it) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    leave_claim(directory_, Holder::own());
    _exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, id_t(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(DirectoryLock::is_held(directory_));
  EXPECT_TRUE(DirectoryLock::take(directory_, holder_).has_value()) << holder_;
  waitpid(child, nullptr, 0);
}

TEST_P(DirectoryLockTest, a_host_that_was_restarted_holds_nothing_where_the_lock_says_so) {
  leave_claim(directory_, {.host = Holder::own().host, .process = 7, .locked = true});
  EXPECT_EQ(DirectoryLock::is_held(directory_), GetParam() != 0);
  EXPECT_EQ(DirectoryLock::take(directory_, holder_).has_value(), GetParam() == 0);
}

TEST_P(DirectoryLockTest, a_damaged_claim_is_respected_for_10_minutes_too) {
  leave_claim(directory_, {});
  fs::resize_file(directory_ / "claim", 3);
  EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value());
  leave_claim(directory_, {}, 700);
  const auto written = fs::last_write_time(directory_ / "claim");
  fs::resize_file(directory_ / "claim", 3);
  fs::last_write_time(directory_ / "claim", written);
  EXPECT_TRUE(DirectoryLock::take(directory_, holder_).has_value());
}

TEST_P(DirectoryLockTest, a_later_life_of_the_same_job_takes_over_and_the_first_life_notices) {
  let_squeue_be("echo RUNNING");
  set("SLURM_JOB_ID", "42");
  set("SLURM_RESTART_COUNT", "1");
  leave_claim(directory_, {.process = 7, .job = "42", .restarts = 1});
  EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value());
  leave_claim(directory_, {.process = 7, .job = "42", .restarts = 0});
  const auto first = DirectoryLock::take(directory_, holder_);
  ASSERT_TRUE(first.has_value()) << holder_;
  first->require_held();
  // A second life elsewhere links its claim behind this one.
  const auto mine = Holder::parse(core::read_text_file(directory_ / "claim-abc"));
  ASSERT_TRUE(mine.has_value());
  const Holder next{
      .host = "far", .machine = "b", .process = 9, .job = "42", .restarts = 2, .token = "def"};
  core::write_durably(directory_ / ("claim-" + mine->token), next.json());
  try {
    first->require_held();
    FAIL() << "it must have been lost";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::checkpoint);
    EXPECT_TRUE(contains(error.what(), "process 9 on far, job 42")) << error.what();
  }
}

TEST_P(DirectoryLockTest, a_job_that_squeue_does_not_show_is_taken_over_and_one_it_shows_is_not) {
  for (const char* script : {"echo RUNNING", "echo 'cannot contact the controller' >&2; exit 1"}) {
    let_squeue_be(script);
    leave_claim(directory_, {.process = 7, .job = "42"});
    EXPECT_FALSE(DirectoryLock::take(directory_, holder_).has_value()) << script;
  }
  for (const char* script : {"exit 0", "echo 'error: Invalid job id specified' >&2; exit 1"}) {
    let_squeue_be(script);
    leave_claim(directory_, {.process = 7, .job = "42"});
    EXPECT_TRUE(DirectoryLock::take(directory_, holder_).has_value()) << script;
  }
}

TEST_P(DirectoryLockTest, a_lost_reply_to_a_link_is_judged_by_the_number_of_links) {
  loses_replies = true;
  const auto lock = DirectoryLock::take(directory_, holder_);
  loses_replies = false;
  ASSERT_TRUE(lock.has_value()) << holder_;
  struct stat about {};
  ASSERT_EQ(::stat((directory_ / "claim").c_str(), &about), 0);
  EXPECT_EQ(about.st_nlink, 1u) << "the draft's own name is gone";
}

INSTANTIATE_TEST_SUITE_P(OnFileSystems, DirectoryLockTest, testing::Values(0, ENOSYS, ENOLCK),
                         [](const auto& flock) {
                           return flock.param == 0        ? std::string("with_flock")
                                  : flock.param == ENOSYS ? std::string("without_flock")
                                                          : std::string("out_of_locks");
                         });

TEST(DirectoryLockWithoutLinks, is_a_lock_alone_and_without_both_an_error) {
  const fs::path directory = fresh_directory();
  std::string holder;
  failure_of_link = EPERM;
  {
    const auto lock = DirectoryLock::take(directory, holder);
    ASSERT_TRUE(lock.has_value());
    lock->require_held();
    EXPECT_FALSE(DirectoryLock::take(directory, holder).has_value());
    EXPECT_TRUE(DirectoryLock::is_held(directory));
  }
  failure_of_flock = ENOSYS;
  const std::string text = message_when([&] { DirectoryLock::take(directory, holder); });
  failure_of_flock = failure_of_link = 0;
  EXPECT_TRUE(contains(text, "neither by a lock (Function not implemented) nor by a hard link"))
      << text;
}

}  // namespace
}  // namespace weft::experiments::directory_lock_test
