#include "experiments/run/stop_signal.h"

#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"

namespace weft::experiments::stop_signal_test {
namespace {

/// The wait status of a child that runs `work`.
template <class Work>
int status_after(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

TEST(StopSignal, notes_each_of_its_signals_and_gives_its_exit_code) {
  const std::vector<std::pair<int, std::string>> expected{
      {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"},
      {SIGHUP, "SIGHUP"},   {SIGPIPE, "SIGPIPE"}, {SIGXCPU, "SIGXCPU"}, {SIGALRM, "SIGALRM"}};
  for (const auto& [number, name] : expected) {
    StopSignal stop;
    EXPECT_FALSE(stop.requested());
    std::raise(number);
    EXPECT_TRUE(stop.requested());
    EXPECT_EQ(stop.number(), number);
    EXPECT_EQ(stop.name(), name);
    EXPECT_EQ(stop.exit_code(), 128 + number);
  }
}

TEST(StopSignal, keeps_the_first_of_several_signals) {
  StopSignal stop;
  std::raise(SIGUSR1);
  std::raise(SIGTERM);
  std::raise(SIGTERM);
  EXPECT_EQ(stop.number(), SIGUSR1);
}

TEST(StopSignal, ends_the_process_at_once_on_a_second_interrupt) {
  for (const int first : {SIGINT, SIGTERM}) {
    const int status = status_after([&] {
      StopSignal stop;
      std::raise(first);
      std::raise(SIGINT);
      return 0;
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGINT);
  }
}

TEST(StopSignal, restores_the_handlers_it_found) {
  const int status = status_after([] {
    { StopSignal stop; }
    std::raise(SIGUSR1);
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGUSR1);
}

TEST(StopSignal, leaves_a_hang_up_ignored_where_it_was) {
  const int status = status_after([] {
    std::signal(SIGHUP, SIG_IGN);
    StopSignal stop;
    std::raise(SIGHUP);
    return stop.requested() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(StopSignal, exists_only_once) {
  StopSignal stop;
  EXPECT_THROW(StopSignal(), core::Error);
}

}  // namespace
}  // namespace weft::experiments::stop_signal_test
