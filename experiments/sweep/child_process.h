#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft::experiments {

/// How a process ended: its exit code as a shell shows it, 128 + N after signal N.
using ExitCode = int;

/// This program run once more with other arguments, on some of the processors, its input empty and
/// its output in files. It is in a separate process group, so that Ctrl-C reaches only its
/// parent; when the parent dies, it is asked to save and stop.
class ChildProcess {
 public:
  struct Output {
    std::filesystem::path out;
    std::filesystem::path err;
    std::filesystem::path failure;  ///< where it says why it failed (run/failure.h)
    bool append = true;             ///< to `out`; `err` is always appended to
  };

  /// `processors` empty: all that this process may use. An Error when it cannot be started.
  ChildProcess(const std::vector<std::string>& arguments, const std::vector<int>& processors,
               const Output& output);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it if it still runs.
  ~ChildProcess();

  /// Nothing while it runs.
  std::optional<ExitCode> poll();
  void ask_to_stop();

 private:
  pid_t process_;
  std::optional<ExitCode> code_;
};

/// The processors that this process may run on.
std::vector<int> own_processors();

/// The share of job `job` among `jobs`: a separate part while there is one, else a shared
/// processor.
std::vector<int> processors_of_job(const std::vector<int>& all, std::size_t job, std::size_t jobs);

}  // namespace weft::experiments
