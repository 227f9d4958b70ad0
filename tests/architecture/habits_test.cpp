#include "tests/architecture/source_tree.h"

namespace weft::architecture::habits_test {
namespace {

// Reports each line of `files` whose code, comments aside, holds `pattern`.
void expect_none(const std::vector<File>& files, const std::string& pattern,
                 const std::string& what_to_do) {
  for (const File& file : files)
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      EXPECT_FALSE(has_match(without_comment(file.lines[i]), pattern))
          << file.at(i) << ": " << file.lines[i] << "\n  " << what_to_do;
}

TEST(Habits, the_library_never_prints) {
  expect_none(files_under(library, {".h", ".cpp"}),
              "\\bstd::(cout|cerr|clog)\\b|\\b(printf|fprintf|puts|putchar|perror)\\s*\\(",
              "The library never prints: return the value, or throw core::Error.");
}

TEST(Habits, the_library_never_ends_the_process) {
  expect_none(files_under(library, {".h", ".cpp"}),
              "\\b(exit|_exit|_Exit|quick_exit|abort|terminate)\\s*\\(",
              "The library never ends the process: throw core::Error and let the program decide.");
}

TEST(Habits, randomness_comes_from_counter_based_streams) {
  expect_none(files_under(modules, {".h", ".cpp"}),
              "\\bs?rand\\s*\\(|mt19937|random_device|default_random_engine|"
              "(int|real|normal|bernoulli)_distribution|std::shuffle",
              "Draw from core::Rng, so that a replay and a resumed run draw the same.");
}

TEST(Habits, nothing_is_left_for_later) {
  std::vector<File> files = sources();
  for (File& file : files_under({"configs"}, {".toml"})) files.push_back(std::move(file));
  for (File& file : documents()) files.push_back(std::move(file));
  const std::string marker = "\\b(T[O]DO|F[I]XME|X[X]X)\\b";
  for (const File& file : files) {
    EXPECT_EQ(file.path.find("placeholder"), std::string::npos)
        << file.path << ": delete it, a folder needs no file that says nothing.";
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      EXPECT_FALSE(has_match(file.lines[i], marker))
          << file.at(i) << ": " << file.lines[i] << "\n  Do it now or write an issue.";
  }
}

TEST(Habits, names_say_what_a_file_holds) {
  const std::string vague = "(^|[/_])(utils?|helpers?|misc|common|manager|impl|base)\\.(h|cpp)$";
  for (const File& file : sources())
    EXPECT_FALSE(has_match(file.path, vague))
        << file.path << ": name the file after the one idea that it holds.";
}

// Tests are compiled several at a time, and each has oracles of its own by simple names.
TEST(Habits, a_test_has_a_namespace_named_after_its_file) {
  for (const File& file : files_under({"tests"}, {"_test.cpp"})) {
    const std::string stem = std::filesystem::path(file.path).stem().string();
    EXPECT_TRUE(has_match(file.text(), "\nnamespace weft::[a-z]+::" + stem + " \\{\n"))
        << file.path << ": put it into namespace weft::MODULE::" << stem << ".";
  }
}

}  // namespace
}  // namespace weft::architecture::habits_test
