#include "tests/experiments/program.h"
#include "tests/places.h"

namespace weft::experiments::shipped_configs_test {
namespace {

TEST(ShippedConfigs, resolve_without_a_problem) {
  const Program program("shipped");
  int seen = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_dir() + "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    if (entry.path().string().find("/configs/sweeps/") != std::string::npos) continue;
    const Outcome shown = program.run({"config", entry.path().string()});
    EXPECT_EQ(shown.code, 0) << entry.path() << '\n' << shown.err;
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace weft::experiments::shipped_configs_test
