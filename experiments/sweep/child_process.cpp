#include "experiments/sweep/child_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/hold/outside_program.h"
#include "experiments/run/failure.h"

namespace weft::experiments {
namespace {

constexpr const char* own_program = "/proc/self/exe";

/// Between fork and exec: system calls only, since other threads may have held locks.
[[noreturn]] void become_child(pid_t parent, char* const* argv, char* const* environment,
                               const cpu_set_t& processors, int out, int err) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);
  ::sched_setaffinity(0, sizeof processors, &processors);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execve(own_program, argv, environment);
  ::_exit(127);
}

int open_output(const std::filesystem::path& path, bool append) {
  const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
  const int file = ::open(path.c_str(), mode, 0666);
  core::require(file >= 0, "cannot write ", path.string(), ": ", core::explain_errno(errno));
  return file;
}

/// This process's environment, with another file for the reason of a failure, and without what a
/// launcher of parallel programs set: a trial is a program of its own.
std::vector<std::string> environment_of_child(const std::string& failure) {
  auto variables = environment_without([](const std::string& name) {
    return name == failure_file_variable || is_of_launcher(name);
  });
  variables.push_back(std::string(failure_file_variable) + "=" + failure);
  return variables;
}

/// The form in which a new program takes its words; valid as long as they are.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments,
                           const std::vector<int>& processors, const Output& output) {
  std::vector<std::string> words{"weft"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = environment_of_child(output.failure.string());
  const std::vector<char*> argv = pointers_to(words), environment = pointers_to(variables);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors.empty() ? own_processors() : processors)
    CPU_SET(std::size_t(processor), &set);
  const int out = open_output(output.out, output.append);
  const int err = output.err == output.out ? ::dup(out) : open_output(output.err, true);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) become_child(parent, argv.data(), environment.data(), set, out, err);
  const int fault = errno;
  ::close(out);
  ::close(err);
  core::require(process_ > 0, "cannot start another process: ", core::explain_errno(fault));
}

ChildProcess::~ChildProcess() {
  if (poll()) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::optional<ExitCode> ChildProcess::poll() {
  int status = 0;
  if (!code_ && ::waitpid(process_, &status, WNOHANG) == process_)
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code_;
}

void ChildProcess::ask_to_stop() {
  if (!poll()) ::kill(process_, SIGTERM);
}

std::vector<int> own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> all;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(std::size_t(i), &set)) all.push_back(i);
  return all;
}

std::vector<int> processors_of_job(const std::vector<int>& all, std::size_t job, std::size_t jobs) {
  const std::size_t n = all.size();
  if (jobs > n) return {all[job % n]};
  return {all.begin() + std::ptrdiff_t(job * n / jobs),
          all.begin() + std::ptrdiff_t((job + 1) * n / jobs)};
}

}  // namespace weft::experiments
