// Texts that are longer than the memory there is.
#include <sys/resource.h>

#include <cstdlib>

#include "core/files/hdf5_file.h"
#include "data/text/prepared_text.h"
#include "tests/experiments/program.h"

namespace weft::experiments::long_text_program_test {
namespace {

namespace fs = std::filesystem;

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

const char* const text_config = R"(
[data]
kind = "text"
length = 16

[model]
layers = 1
width = 8
heads = 2

[train]
steps = 2
batch = 2
)";

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + " of a long text\n";
  return text;
}

void write_times(const fs::path& path, const std::string& part, int times) {
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < times; ++i) file << part;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST(LongText, is_prepared_in_memory_that_does_not_hold_it) {
  if (sanitized) GTEST_SKIP() << "AddressSanitizer takes terabytes of address space for itself";
  const Program program("long_text");
  const std::string part = numbered_lines(40000);
  const int times = int(200'000'000 / part.size());
  write_times(program.directory() / "t.txt", part, times);
  const Outcome outcome = program.run({"data", "prepare", "t.txt", "-o", "t.h5"}, [] {
    const rlimit limit{rlim_t(320) << 20, rlim_t(320) << 20};  // 140 without any text
    setrlimit(RLIMIT_AS, &limit);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
  });
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto megabytes = std::lround(double(part.size()) * times / 1e6);
  expect_holds(outcome.err, {"reading 1 file, " + std::to_string(megabytes) + " MB", "read 50 %"});
  const data::PreparedText text = data::open_prepared_text((program.directory() / "t.h5").string());
  ASSERT_EQ(text.tokens->size(), core::Index(part.size()) * times);
  std::vector<core::Token> tokens(part.size());
  for (const core::Index i : {0, times / 2, times - 1}) {
    text.tokens->read(i * core::Index(part.size()), tokens);
    EXPECT_EQ(text.facts.decode(tokens), part);
  }
}

TEST(LongText, that_is_trained_on_as_it_is_and_does_not_fit_is_refused_with_the_way_out) {
  const Program program("long_raw_text");
  program.write("c.toml", text_config);
  write_times(program.directory() / "t.txt", numbered_lines(1000), 200);
  const auto little = [] { setenv("WEFT_MEMORY_MB", "2", 1); };
  const std::vector<std::string> train = {"train", "c.toml", "--run", "a", "--force"};
  for (const char* const setting : {"data.units=bytes", "data.documents=lines"}) {
    std::vector<std::string> words = train;
    words.insert(words.end(), {"data.path=t.txt", setting});
    const Outcome outcome = program.run(words, little);
    EXPECT_EQ(outcome.code, 6) << outcome.err;
    expect_holds(outcome.err, {"out of memory", "'t.txt'", "weft data prepare t.txt"});
  }
  ASSERT_EQ(program.run({"data", "prepare", "t.txt", "-o", "t.h5"}, little).code, 0);
  std::vector<std::string> prepared = train;
  prepared.push_back("data.path=t.h5");
  EXPECT_EQ(program.run(prepared, little).code, 0);
}

TEST(LongText, that_has_no_room_on_the_disk_leaves_the_file_before_it) {
  const Program program("long_text_full_disk");
  program.write("t.txt", "short and old");
  ASSERT_EQ(program.run({"data", "prepare", "t.txt", "-o", "t.h5"}).code, 0);
  const std::string before = read_text(program.directory() / "t.h5");
  write_times(program.directory() / "t.txt", numbered_lines(1000), 100);
  const auto size = rlim_t(fs::file_size(program.directory() / "t.txt"));
  // While tokens are encoded; when they fit, but not what HDF5 puts around them.
  for (const rlim_t most : {size / 2, size + 100}) {
    const Outcome outcome =
        program.run({"data", "prepare", "t.txt", "-o", "t.h5", "--force"}, [most] {
          const rlimit limit{most, most};
          setrlimit(RLIMIT_FSIZE, &limit);
        });
    EXPECT_EQ(outcome.code, 1) << most << ' ' << outcome.code << outcome.err;
    expect_holds(outcome.err, {"file-size limit"});
    EXPECT_EQ(read_text(program.directory() / "t.h5"), before);
    EXPECT_EQ(names_in(program.directory()),
              (std::vector<std::string>{"err.txt", "out.txt", "t.h5", "t.txt"}));
  }
}

TEST(LongText, says_nothing_of_its_progress_where_a_short_one_is_read) {
  const Program program("short_text");
  program.write("t.txt", numbered_lines(10));
  const Outcome outcome = program.run({"data", "prepare", "t.txt", "-o", "t.h5"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace weft::experiments::long_text_program_test
