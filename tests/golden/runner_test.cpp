#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/files/durable_file.h"
#include "core/files/hdf5_file.h"
#include "tests/fresh_directory.h"
#include "tests/places.h"

namespace weft::golden::runner_test {
namespace {

namespace fs = std::filesystem;

const fs::path cases = fs::path(source_dir()) / "tests/golden/cases";

// What the runner printed and its exit code.
std::pair<std::string, int> run(const std::vector<fs::path>& files) {
  std::string command = WEFT_GOLDEN;
  for (const fs::path& file : files) command += " '" + file.string() + "'";
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece;
  std::string output;
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe))
    output.append(piece.data(), n);
  return {output, WEXITSTATUS(pclose(pipe))};
}

void save(const core::Hdf5File& file, const fs::path& path) {
  core::write_durably(path, {file.image()});
}

// A copy of dense_causal1 without one array and with another's first number moved.
void save_altered(const fs::path& path, const std::string& without, const std::string& moved,
                  double by) {
  const auto whole = core::Hdf5File::open(cases / "dense_causal1.h5");
  auto copy = core::Hdf5File::in_memory("copy");
  for (const auto& [name, value] : whole.attributes()) copy.set_attribute("/", name, value);
  for (const std::string& name : whole.datasets()) {
    if (name == without) continue;
    auto values = whole.read<double>(name);
    if (name == moved) values[0] += by;
    copy.write<double>(name, whole.shape(name), values);
  }
  save(copy, path);
}

TEST(GoldenRunner, says_ok_with_the_error_of_each_case) {
  const auto [output, code] = run({cases / "dense_causal0.h5", cases / "dense_cross.h5"});
  EXPECT_EQ(code, 0) << output;
  EXPECT_NE(output.find("ok   dense_causal0 "), std::string::npos) << output;
  EXPECT_NE(output.find("ok   dense_cross "), std::string::npos) << output;
  EXPECT_NE(output.find("e-"), std::string::npos) << output;
}

TEST(GoldenRunner, fails_on_an_op_it_does_not_know) {
  auto file = core::Hdf5File::in_memory("unknown");
  file.set_attribute("/", "op", std::string("attention.unheard_of"));
  const fs::path path = fresh_directory() / "unknown.h5";
  save(file, path);
  const auto [output, code] = run({path});
  EXPECT_EQ(code, 1);
  EXPECT_EQ(output.find("FAIL unknown: "), 0u) << output;
  EXPECT_NE(output.find("attention.unheard_of"), std::string::npos) << output;
}

TEST(GoldenRunner, fails_on_a_file_that_is_absent_empty_cut_off_or_no_hdf5) {
  const fs::path folder = fresh_directory();
  std::ofstream(folder / "empty.h5").flush();
  std::ofstream(folder / "text.h5") << "not a golden case\n";
  fs::copy(cases / "dense_cross.h5", folder / "cut.h5");
  fs::resize_file(folder / "cut.h5", fs::file_size(folder / "cut.h5") / 2);
  for (const std::string name : {"absent", "empty", "text", "cut"}) {
    const auto [output, code] = run({folder / (name + ".h5")});
    EXPECT_EQ(code, 1) << name;
    EXPECT_EQ(output.find("FAIL " + name + ": "), 0u) << output;
  }
}

TEST(GoldenRunner, fails_where_an_array_or_the_op_is_missing) {
  const fs::path folder = fresh_directory();
  save_altered(folder / "gap.h5", "grad/k", "", 0);
  const auto [output, code] = run({folder / "gap.h5"});
  EXPECT_EQ(code, 1);
  EXPECT_EQ(output.find("FAIL gap: "), 0u) << output;
  EXPECT_NE(output.find("grad/k"), std::string::npos) << output;
  save(core::Hdf5File::in_memory("blank"), folder / "blank.h5");
  EXPECT_EQ(run({folder / "blank.h5"}).second, 1);
}

TEST(GoldenRunner, fails_on_another_number_in_any_array_and_names_it) {
  const fs::path path = fresh_directory() / "moved.h5";
  for (const std::string array : {"out", "grad/q", "grad/k", "grad/v"}) {
    save_altered(path, "", array, 0.01);
    const auto [output, code] = run({path});
    EXPECT_EQ(code, 1) << array;
    EXPECT_EQ(output.find("FAIL moved "), 0u) << output;
    EXPECT_NE(output.find("at " + array + ","), std::string::npos) << output;
  }
  save_altered(path, "", "out", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(run({path}).second, 1);
}

TEST(GoldenRunner, goes_on_after_a_failure_and_still_exits_1) {
  const auto [output, code] = run({"/nowhere/absent.h5", cases / "dense_cross.h5"});
  EXPECT_EQ(code, 1);
  EXPECT_NE(output.find("FAIL absent: "), std::string::npos) << output;
  EXPECT_NE(output.find("ok   dense_cross "), std::string::npos) << output;
}

TEST(GoldenRunner, asks_for_cases_when_given_none) {
  const auto [output, code] = run({});
  EXPECT_EQ(code, 1);
  EXPECT_NE(output.find("usage: "), std::string::npos) << output;
}

}  // namespace
}  // namespace weft::golden::runner_test
