// Repeats golden cases with weft: golden_f32 | golden_f64 [--bf16] CASE.h5 ...
// A line for each case; exit code 1 unless all pass.
#include <cstdio>
#include <exception>
#include <string>

#include "core/error.h"
#include "tests/golden/ops.h"

namespace weft::golden {
namespace {

bool run(const std::filesystem::path& path, core::Precision precision) {
  const std::string name = path.stem().string();
  try {
    Case golden(path, precision);
    const std::string op = golden.text("op");
    const Replay replay = find_op(op);
    core::require(replay, "this runner does not know the op ", op);
    replay(golden);
    if (golden.passed()) {
      std::printf("ok   %-28s %.1e\n", name.c_str(), golden.error());
      return true;
    }
    std::printf("FAIL %-28s %.1e at %s, at most %.0e passes\n", name.c_str(), golden.error(),
                golden.worst().c_str(), golden.tolerance());
  } catch (const std::exception& error) {
    std::printf("FAIL %s: %s\n", name.c_str(), error.what());
  }
  return false;
}

}  // namespace
}  // namespace weft::golden

int main(int argc, char** argv) {
  const bool bf16 = argc > 1 && std::string_view(argv[1]) == "--bf16";
  const int first = bf16 ? 2 : 1;
  if (argc <= first) {
    std::fprintf(stderr, "usage: %s [--bf16] CASE.h5 ...\n", argv[0]);
    return 1;
  }
  using weft::core::Precision;
  bool passed = true;
  for (int i = first; i < argc; ++i)
    passed = weft::golden::run(argv[i], bf16 ? Precision::bf16 : Precision::float32) && passed;
  return passed ? 0 : 1;
}
