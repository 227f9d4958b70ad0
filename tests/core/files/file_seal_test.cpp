#include "core/files/file_seal.h"

#include <fstream>

#include "core/error.h"
#include "tests/fresh_directory.h"
#include "tests/no_more_files.h"

namespace weft::core::file_seal_test {
namespace {

/// A sealed file with these contents.
std::string sealed(const std::string& contents) {
  return contents + seal_of(std::as_bytes(std::span(contents)));
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(FileSeal, a_sealed_file_proves_itself_whole) {
  const auto path = fresh_directory() / "file";
  for (const std::string& contents :
       {std::string(), std::string("some contents"), std::string("\0\n", 2)}) {
    const std::string bytes = sealed(contents);
    write(path, bytes);
    const SealCheck check = check_seal(path);
    EXPECT_EQ(check.problem, "");
    EXPECT_EQ(check.bytes, Index(bytes.size()));
    EXPECT_EQ(check.xxh3_128, xxh3_128(bytes));
  }
}

TEST(FileSeal, every_cut_and_every_changed_byte_is_found) {
  const auto path = fresh_directory() / "file";
  const std::string bytes = sealed("the contents of a file");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    write(path, bytes.substr(0, i));
    EXPECT_NE(check_seal(path).problem, "") << i;
    std::string changed = bytes;
    changed[i] ^= 1;
    write(path, changed);
    EXPECT_NE(check_seal(path).problem, "") << i;
  }
  EXPECT_EQ(check_seal(path.string() + ".none").problem, "the file is missing");
}

TEST(FileSeal, a_file_that_cannot_be_opened_is_unreadable_and_not_called_damaged) {
  const auto path = fresh_directory() / "file";
  write(path, sealed("some contents"));
  {
    const NoMoreFiles limit;
    try {
      check_seal(path);
      ADD_FAILURE() << "it was opened";
    } catch (const Unreadable& error) {
      EXPECT_EQ(error.fault(), Fault::checkpoint);
      EXPECT_NE(std::string(error.what()).find("cannot read " + path.string()), std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(check_seal(path).problem, "");
  EXPECT_THROW(check_seal(path.parent_path()), Unreadable) << "a folder";
}

TEST(FileSeal, digests_are_those_of_xxh128sum) {
  EXPECT_EQ(xxh3_128(""), "99aa06d3014798d86001c324468d497f");
}

}  // namespace
}  // namespace weft::core::file_seal_test
