#include <gtest/gtest.h>

/// What LeakSanitizer shall not report: fontconfig, behind librsvg, keeps its caches until the
/// process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
