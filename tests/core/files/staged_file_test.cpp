#include "core/files/staged_file.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files/digest.h"
#include "core/files/durable_file.h"
#include "core/files/file_seal.h"
#include "tests/fresh_directory.h"

namespace weft::core::staged_file_test {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(StagedFile, takes_the_place_of_the_old_one_when_it_is_committed_and_not_before) {
  const fs::path path = fresh_directory() / "a";
  write_durably(path, "old");
  {
    StagedFile staged(path);
    staged.append(bytes_of("new, "));
    staged.append(bytes_of("in two pieces"));
    EXPECT_EQ(read_text_file(path), "old");
    staged.sync();
    EXPECT_EQ(read_text_file(staged.temporary()), "new, in two pieces");
    staged.commit();
  }
  EXPECT_EQ(read_text_file(path), "new, in two pieces");
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST(StagedFile, that_is_not_committed_leaves_nothing) {
  const fs::path path = fresh_directory() / "a";
  write_durably(path, "old");
  { StagedFile(path).append(bytes_of("half of")); }
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST(StagedFile, knows_that_it_may_not_become_as_long_as_needed) {
  const fs::path path = fresh_directory() / "a";
  const pid_t child = ::fork();
  if (child == 0) {
    ignore_file_size_signal();
    const rlimit limit{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    StagedFile staged(path);
    staged.check_length(90000);
    int code = fs::file_size(staged.temporary()) == 0 ? 1 : 3;
    try {
      staged.check_length(110000);
    } catch (const Error& error) {
      if (code == 1 && error.fault() == Fault::output) code = 42;
    }
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Digest, of_pieces_is_that_of_the_whole) {
  const std::string text = "warp and weft " + std::string(5000, 'x');
  for (const std::size_t size : {1, 7, 1000, 100000}) {
    Digest digest;
    for (std::size_t at = 0; at < text.size(); at += size)
      digest.add(bytes_of(std::string_view(text).substr(at, size)));
    EXPECT_EQ(digest.text(), xxh3_128(text));
  }
}

}  // namespace
}  // namespace weft::core::staged_file_test
