#include <set>

#include "tests/experiments/program.h"

namespace weft::experiments::run_name_program_test {
namespace {

std::set<std::string> runs_of(const Program& program) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(program.directory() / "runs"))
    names.insert(entry.path().filename().string());
  return names;
}

TEST(RunName, is_the_configs_name_and_the_hash_of_what_determines_results) {
  const Program program("names");
  program.write("tiny.toml", tiny_config);
  const std::vector<std::string> words = {"train", "tiny.toml", "train.steps=1", "optim.warmup=0"};
  ASSERT_EQ(program.run(words).code, 0) << read_text(program.directory() / "err.txt");
  const auto first = runs_of(program);
  ASSERT_EQ(first.size(), 1u);
  const std::string& name = *first.begin();
  EXPECT_TRUE(name.starts_with("tiny-")) << name;
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef", 5), std::string::npos) << name;
  EXPECT_EQ(name.size(), 5u + 8u) << name;

  auto other_seed = words, other_threads = words;
  other_seed.push_back("seed=2");
  ASSERT_EQ(program.run(other_seed).code, 0);
  EXPECT_EQ(runs_of(program).size(), 2u);

  other_threads.push_back("threads=1");
  const Outcome again = program.run(other_threads);
  EXPECT_EQ(again.code, 2) << "the number of threads does not change results: same run";
  EXPECT_NE(again.err.find(*first.begin()), std::string::npos) << again.err;
}

}  // namespace
}  // namespace weft::experiments::run_name_program_test
