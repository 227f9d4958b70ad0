#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace weft::experiments {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// What a finished program left: its exit code as a shell shows it, and what it printed.
struct Outcome {
  int code = 0;
  std::string out, err;
};

/// The built program, run as a user runs it, in a directory of its own.
class Program {
 public:
  explicit Program(const std::string& name)
      : directory_(std::filesystem::path(testing::TempDir()) /
                   ("weft-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~Program() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  const std::filesystem::path& directory() const { return directory_; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return (directory_ / name).string();
  }

  /// Starts the program; `prepare` runs in the child first.
  pid_t start(const std::vector<std::string>& arguments,
              const std::function<void()>& prepare = {}) const {
    const pid_t child = fork();
    if (child != 0) return child;
    if (chdir(directory_.c_str()) != 0) _exit(126);
    if (!freopen("out.txt", "w", stdout) || !freopen("err.txt", "w", stderr)) _exit(126);
    if (prepare) prepare();
    std::vector<char*> argv{const_cast<char*>(WEFT_PROGRAM)};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(WEFT_PROGRAM, argv.data());
    _exit(127);
  }

  Outcome wait(pid_t child) const {
    int status = 0;
    waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, read_text(directory_ / "out.txt"), read_text(directory_ / "err.txt")};
  }

  Outcome run(const std::vector<std::string>& arguments,
              const std::function<void()>& prepare = {}) const {
    return wait(start(arguments, prepare));
  }

 private:
  std::filesystem::path directory_;
};

/// A model small enough to train in a second, with dropout, accumulation and two head groups.
inline const char* const tiny_config = R"(
[data]
length = 24
held_out = 16

[model]
layers = 2
width = 16
heads = 4
dropout = 0.1
attention = ["dense", "mix"]

[attention.mix]
groups = [{kind = "dense", heads = 1, scale = 0.3}, {kind = "dense", heads = 3}]

[train]
steps = 60
batch = 4
accumulate = 2
eval_every = 20
checkpoint_every = 5
)";

}  // namespace weft::experiments
