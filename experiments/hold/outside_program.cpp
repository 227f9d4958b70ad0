#include "experiments/hold/outside_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {
namespace {

/// A file without a name, for what a program prints.
class Printed {
 public:
  Printed() : file_(std::tmpfile(), std::fclose) {
    core::require(file_ != nullptr, "cannot make a temporary file: ", core::explain_errno(errno));
  }
  int descriptor() const { return ::fileno(file_.get()); }
  std::string text() const {
    std::rewind(file_.get());
    std::string all;
    std::array<char, 4096> part;
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file_.get()))
      all.append(part.data(), count);
    return all;
  }

 private:
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::optional<OutsideResult> run_outside(const std::vector<std::string>& words,
                                         const std::vector<std::string>& environment) {
  std::vector<std::string> own_words = words, own_environment = environment;
  const Printed out, err;
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, err.descriptor(), STDERR_FILENO);
  pid_t process = -1;
  const int failed =
      ::posix_spawnp(&process, words[0].c_str(), &files, nullptr, pointers_to(own_words).data(),
                     pointers_to(own_environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (failed == ENOENT || failed == EACCES) return std::nullopt;
  core::require(failed == 0, "cannot start ", words[0], ": ", core::explain_errno(failed));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return OutsideResult{code, out.text(), err.text()};
}

std::optional<OutsideResult> run_outside(const std::vector<std::string>& words) {
  return run_outside(words, environment_without([](const std::string&) { return false; }));
}

std::vector<std::string> environment_without(bool (*is_left_out)(const std::string& name)) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    if (!is_left_out(text.substr(0, text.find('=')))) variables.push_back(text);
  }
  return variables;
}

bool is_of_launcher(const std::string& name) {
  return name.starts_with("OMPI_") || name.starts_with("PMI");
}

}  // namespace weft::experiments
