#include "core/files/durable_file.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/error.h"
#include "tests/fresh_directory.h"

namespace weft::core::durable_file_test {
namespace {

namespace fs = std::filesystem;

TEST(DurableFile, replaces_the_contents_and_leaves_no_temporary_file) {
  const fs::path directory = fresh_directory();
  write_durably(directory / "a", "first, and longer");
  const std::string second = "second";
  const auto bytes = std::as_bytes(std::span(second));
  write_durably(directory / "a", {bytes.first(3), bytes.subspan(3)});
  EXPECT_EQ(read_text_file(directory / "a"), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 1);
}

TEST(DurableFile, writes_beside_the_caller_when_the_path_has_no_directory) {
  const fs::path before = fs::current_path();
  fs::current_path(fresh_directory());
  write_durably("plain", "text");
  EXPECT_EQ(read_text_file("plain"), "text");
  fs::current_path(before);
}

TEST(DurableFile, leaves_the_old_contents_when_the_disk_is_full) {
  const fs::path directory = fresh_directory();
  write_durably(directory / "a", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    ignore_file_size_signal();
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      write_durably(directory / "a", std::string(10000, 'x'), Fault::checkpoint);
    } catch (const Error& error) {
      const bool clear = std::string(error.what()).find("file-size limit") != std::string::npos;
      code = error.fault() == Fault::checkpoint && clear ? 42 : 2;
    }
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(read_text_file(directory / "a"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 1);
}

TEST(DurableFile, says_which_file_cannot_be_written) {
  try {
    write_durably("/nowhere/at/all", "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::output);
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos);
  }
}

TEST(DurableFile, reads_empty_files_and_reports_missing_ones) {
  const fs::path directory = fresh_directory();
  write_durably(directory / "empty", "");
  EXPECT_EQ(read_text_file(directory / "empty"), "");
  EXPECT_THROW(read_text_file(directory / "missing"), Error);
}

TEST(DurableFile, several_writers_of_one_file_each_leave_it_whole) {
  const auto path = fresh_directory() / "shared.txt";
  std::vector<std::jthread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter)
    writers.emplace_back([&path, letter] {
      for (int i = 0; i < 20; ++i) write_durably(path, std::string(5000, letter));
    });
  writers.clear();
  const std::string left = read_text_file(path);
  EXPECT_EQ(left, std::string(5000, left[0]));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1);
}

}  // namespace
}  // namespace weft::core::durable_file_test
