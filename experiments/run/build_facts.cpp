#include "experiments/run/build_facts.h"

#include <weft_commit.h>  // written by cmake/commit.cmake

namespace weft::experiments {

std::string version() { return WEFT_VERSION; }

std::string commit() { return WEFT_COMMIT; }

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace weft::experiments
