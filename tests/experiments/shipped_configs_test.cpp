#include "tests/experiments/program.h"

namespace weft::experiments {
namespace {

TEST(ShippedConfigs, resolve_without_a_problem) {
  const Program program("shipped");
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    const Outcome shown = program.run({"config", entry.path().string()});
    EXPECT_EQ(shown.code, 0) << entry.path() << '\n' << shown.err;
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace weft::experiments
