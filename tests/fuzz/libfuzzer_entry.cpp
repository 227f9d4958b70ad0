// libFuzzer with one of the fuzzers: fuzzers --target=NAME [OPTION...] [CORPUS...].
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzzers.h"

namespace {

const weft::fuzz::Fuzzer* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  constexpr std::string_view option = "--target=";
  for (int i = 1; i < *count; ++i)
    if (const std::string_view word = (*words)[i]; word.starts_with(option))
      target = weft::fuzz::find_fuzzer(word.substr(option.size()));
  if (target) return 0;
  for (const weft::fuzz::Fuzzer& fuzzer : weft::fuzz::all_fuzzers())
    std::printf("%s\n", fuzzer.name.data());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  weft::fuzz::try_input(*target, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
