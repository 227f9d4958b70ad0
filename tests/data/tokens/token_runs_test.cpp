#include "data/tokens/token_runs.h"

#include <cstdlib>

#include "core/out_of_memory.h"
#include "core/rng.h"
#include "data/tokens/token_files.h"
#include "tests/fresh_directory.h"

namespace weft::data::token_runs_test {
namespace {

std::vector<Token> some(Index vocabulary, Index count, std::uint64_t seed) {
  std::vector<Token> tokens;
  for (Index i = 0; i < count; ++i)
    tokens.push_back(Token(core::Rng(seed).below(std::uint64_t(i), vocabulary)));
  return tokens;
}

/// Tokens of all splits in turns, which end up one split after the other.
std::vector<Token> fill(TokenRuns& runs, Index vocabulary) {
  std::array<std::vector<Token>, 3> all;
  runs.begin(vocabulary, 1000);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Split split = Split(i * i % 3);
    const std::vector<Token> tokens = some(vocabulary, Index(i * 400), i);
    runs.append(split, tokens);
    all[std::size_t(split)].insert(all[std::size_t(split)].end(), tokens.begin(), tokens.end());
  }
  std::vector<Token> joined;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(runs.size(Split(i)), Index(all[i].size()));
    joined.insert(joined.end(), all[i].begin(), all[i].end());
  }
  EXPECT_EQ(runs.size(), Index(joined.size()));
  return joined;
}

TEST(TokenRuns, are_laid_end_to_end_in_memory_and_in_files_alike) {
  const std::filesystem::path folder = fresh_directory();
  for (const Index vocabulary : {40, 300, 70000}) {
    MemoryRuns memory("text");
    TokenFiles files(folder / "x.h5");
    const std::vector<Token> expected = fill(memory, vocabulary);
    EXPECT_EQ(fill(files, vocabulary), expected);
    const PackedTokens packed = memory.take();
    std::vector<Token> tokens(expected.size());
    packed.read(0, tokens);
    EXPECT_EQ(tokens, expected);
    std::vector<std::byte> bytes;
    files.read([&](auto piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
    EXPECT_TRUE(std::ranges::equal(bytes, packed.bytes()));
    EXPECT_EQ(files.width(), token_width(vocabulary));
    std::vector<Token> sorted = expected;
    std::ranges::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    EXPECT_EQ(files.different(), Index(sorted.size()));
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << "files of tokens have no names";
  }
}

TEST(TokenRuns, that_do_not_fit_in_memory_are_refused_before_it_is_taken) {
  setenv("WEFT_MEMORY_MB", "3", 1);
  const auto refused = [](auto act) {
    try {
      act();
    } catch (const core::OutOfMemory& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  MemoryRuns runs("long.txt");
  const std::string at_once = refused([&] { runs.begin(300, Index(1) << 50); });
  EXPECT_NE(at_once.find("weft data prepare long.txt"), std::string::npos) << at_once;
  runs.begin(300, 0);
  const std::vector<Token> piece = some(300, 100000, 1);
  const std::string later = refused([&] {
    for (int i = 0; i < 100; ++i) runs.append(Split::training, piece);
  });
  EXPECT_NE(later.find("weft data prepare long.txt"), std::string::npos) << later;
  EXPECT_LT(runs.size(), 3000000);
  unsetenv("WEFT_MEMORY_MB");
}

}  // namespace
}  // namespace weft::data::token_runs_test
