// Repeats golden cases with weft: golden_f32 | golden_f64 CASE.h5 ...
// A line for each case; exit code 1 unless all pass.
#include <cstdio>
#include <exception>
#include <string>

#include "core/error.h"
#include "tests/golden/ops.h"

namespace weft::golden {
namespace {

bool run(const std::filesystem::path& path) {
  const std::string name = path.stem().string();
  try {
    Case golden(path);
    const std::string op = golden.text("op");
    const Replay replay = find_op(op);
    core::require(replay, "this runner does not know the op ", op);
    replay(golden);
    if (golden.passed()) {
      std::printf("ok   %-28s %.1e\n", name.c_str(), golden.error());
      return true;
    }
    std::printf("FAIL %-28s %.1e at %s, at most %.0e passes\n", name.c_str(), golden.error(),
                golden.worst().c_str(), Case::tolerance);
  } catch (const std::exception& error) {
    std::printf("FAIL %s: %s\n", name.c_str(), error.what());
  }
  return false;
}

}  // namespace
}  // namespace weft::golden

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CASE.h5 ...\n", argv[0]);
    return 1;
  }
  bool passed = true;
  for (int i = 1; i < argc; ++i) passed = weft::golden::run(argv[i]) && passed;
  return passed ? 0 : 1;
}
