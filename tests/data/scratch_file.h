#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace weft::data {

/// A file in a fresh directory that goes with it.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view content) {
    std::string pattern = testing::TempDir() + "weft-data-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    std::ofstream(path(), std::ios::binary) << content;
  }
  ~ScratchFile() { std::filesystem::remove_all(folder_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string path() const { return folder_ / "text.txt"; }
  std::string folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace weft::data
