#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace weft {

/// A new empty directory, removed when the test program ends.
inline std::filesystem::path fresh_directory() {
  struct Made {
    const pid_t owner = ::getpid();  // a forked child leaves its parent's directories alone
    std::vector<std::filesystem::path> paths;
    ~Made() {
      if (owner != ::getpid()) return;
      std::error_code ignored;
      for (const auto& path : paths) std::filesystem::remove_all(path, ignored);
    }
  };
  static Made made;
  std::string name = testing::TempDir() + "/weft-test-XXXXXX";
  made.paths.push_back(::mkdtemp(name.data()));
  return made.paths.back();
}

}  // namespace weft
