#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace weft::experiments {

std::string read_text(const std::filesystem::path& path);

/// What a finished program left: its exit code as a shell shows it, and what it printed.
struct Outcome {
  int code = 0;
  std::string out, err;
};

/// The built program, run as a user runs it, in a directory of its own.
class Program {
 public:
  explicit Program(const std::string& name);
  ~Program();

  const std::filesystem::path& directory() const { return directory_; }
  std::string write(const std::string& name, const std::string& text) const;

  /// Starts the program; `prepare` runs in the child first.
  pid_t start(const std::vector<std::string>& arguments,
              const std::function<void()>& prepare = {}) const;
  Outcome wait(pid_t child) const;
  Outcome run(const std::vector<std::string>& arguments,
              const std::function<void()>& prepare = {}) const;

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

/// Every part is in the text.
inline void expect_holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
}

}  // namespace weft::experiments
