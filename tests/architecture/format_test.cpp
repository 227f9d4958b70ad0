#include <array>
#include <cstdio>
#include <memory>

#include "tests/architecture/source_tree.h"
#include "tests/places.h"

namespace weft::architecture::format_test {
namespace {

// What `command` printed, on both channels.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
  std::array<char, 4096> piece;
  std::string output;
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe.get()))
    output.append(piece.data(), n);
  return output;
}

TEST(Format, clang_format_would_change_nothing) {
  // Versions format differently; the tree follows the one of Debian 12.
  if (output_of("clang-format --version").find("version 14.") == std::string::npos)
    GTEST_SKIP() << "clang-format 14 is not installed";
  std::string command = "cd '" + source_dir() + "' && clang-format --dry-run";
  for (const File& file : sources()) command += " " + file.path;
  const std::string complaints = output_of(command);
  EXPECT_TRUE(complaints.empty()) << complaints << "Run clang-format -i on these files.";
}

}  // namespace
}  // namespace weft::architecture::format_test
