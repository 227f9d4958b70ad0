#include "tests/experiments/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tests/places.h"

namespace weft::experiments {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Program::Program(const std::string& name)
    : directory_(std::filesystem::path(testing::TempDir()) /
                 ("weft-" + name + "-" + std::to_string(getpid()))) {
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directories(directory_);
}

Program::~Program() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string Program::write(const std::string& name, const std::string& text) const {
  std::ofstream(directory_ / name, std::ios::binary) << text;
  return (directory_ / name).string();
}

pid_t Program::start(const std::vector<std::string>& arguments,
                     const std::function<void()>& prepare) const {
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child > 0) return child;
  if (chdir(directory_.c_str()) != 0) _exit(126);
  if (!freopen("out.txt", "w", stdout) || !freopen("err.txt", "w", stderr)) _exit(126);
  if (prepare) prepare();
  const std::string program = program_path();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

Outcome Program::wait(pid_t child) const {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_text(directory_ / "out.txt"), read_text(directory_ / "err.txt")};
}

Outcome Program::run(const std::vector<std::string>& arguments,
                     const std::function<void()>& prepare) const {
  return wait(start(arguments, prepare));
}

}  // namespace weft::experiments
