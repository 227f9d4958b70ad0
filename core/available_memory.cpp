#include "core/available_memory.h"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace weft::core {
namespace {

/// The first number of a file, or the one that follows a word; -1, no limit, when there is none.
Index number_in(const char* path, const std::string& after, Index unit) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (after.empty()) return std::isdigit(word[0]) ? std::atoll(word.c_str()) : -1;
    if (word == after && file >> word) return unit * std::atoll(word.c_str());
  }
  return -1;
}

}  // namespace

Index available_memory() {
  if (const char* given = std::getenv("WEFT_MEMORY_MB")) return Index(std::atof(given) * 1e6);
  Index free = number_in("/proc/meminfo", "MemAvailable:", 1024);
  const Index limit = number_in("/sys/fs/cgroup/memory.max", "", 1);
  const Index used = number_in("/sys/fs/cgroup/memory.current", "", 1);
  if (limit > 0 && used >= 0 && (free < 0 || limit - used < free)) free = limit - used;
  return free > 0 ? free : std::numeric_limits<Index>::max();
}

}  // namespace weft::core
