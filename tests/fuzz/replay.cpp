// Runs the stored inputs through their fuzzers without libFuzzer, in the order of their names, each
// as it is and then with a few bytes changed, cut, repeated or taken from another input:
//
//   fuzz_corpus CORPUS [CHANGES]
//
// CORPUS has a folder for each fuzzer. The changes, 16 of each input unless given, are the same in
// every run; the last input tried is named when the process ends badly.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/rng.h"
#include "tests/fuzz/fuzzers.h"

namespace {

namespace fs = std::filesystem;
using weft::fuzz::Fuzzer;

constexpr unsigned longest_input_seconds = 60;  // of a sanitized build on a busy machine

char current[256];

void name_current(int signal) {
  std::fprintf(stderr, "signal %d in %s\n", signal, current);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string changed(std::string input, const std::string& other, const weft::core::Rng& rng) {
  std::uint64_t drawn = 0;
  const auto below = [&](std::size_t count) {
    return count ? std::size_t(rng.bits(drawn++) % count) : 0;
  };
  for (std::size_t times = 1 + below(4); times > 0; --times) {
    const std::size_t at = below(input.size() + 1), count = 1 + below(16);
    switch (below(6)) {
      case 0:
        if (at < input.size()) input[at] = char(below(256));
        break;
      case 1:
        if (at < input.size()) input[at] = char(input[at] ^ 1 << below(8));
        break;
      case 2:
        input.erase(at, count);
        break;
      case 3:
        input.insert(at, input.substr(below(input.size()), count));
        break;
      case 4:
        input.insert(at, other.substr(below(other.size()), count));
        break;
      default:
        input.resize(at);
    }
  }
  return input;
}

std::vector<std::pair<std::string, std::string>> inputs_in(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const auto& item : fs::directory_iterator(folder)) {
    std::ifstream file(item.path(), std::ios::binary);
    inputs.emplace_back(item.path().filename().string(),
                        std::string(std::istreambuf_iterator<char>(file), {}));
  }
  std::ranges::sort(inputs);
  return inputs;
}

/// How many inputs were tried.
long replay(const Fuzzer& fuzzer, const fs::path& folder, long changes) {
  const auto inputs = inputs_in(folder);
  long tried = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (long change = 0; change <= changes; ++change) {
      const auto& [name, input] = inputs[i];
      std::snprintf(current, sizeof current, "%s/%s, change %ld", fuzzer.name.data(), name.c_str(),
                    change);
      ::alarm(longest_input_seconds);
      const auto rng = weft::core::Rng(1).fold(name).fold(std::to_string(change));
      const std::string& other = inputs[(i + std::size_t(change)) % inputs.size()].second;
      weft::fuzz::try_input(fuzzer, change ? changed(input, other, rng) : input);
      ++tried;
    }
  ::alarm(0);
  return tried;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return std::fprintf(stderr, "usage: fuzz_corpus CORPUS [CHANGES]\n"), 2;
  long changes = 16;
  if (count > 2) std::from_chars(words[2], words[2] + std::strlen(words[2]), changes);
  for (const int signal : {SIGABRT, SIGSEGV, SIGALRM, SIGFPE, SIGBUS})
    std::signal(signal, name_current);
  for (const Fuzzer& fuzzer : weft::fuzz::all_fuzzers()) {
    const fs::path folder = fs::path(words[1]) / fuzzer.name;
    const long tried = replay(fuzzer, folder, changes);
    std::printf("%-16s %6ld inputs\n", fuzzer.name.data(), tried);
    if (tried == 0) return std::fprintf(stderr, "%s is empty\n", folder.c_str()), 1;
  }
  return 0;
}
