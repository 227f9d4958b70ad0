#include "tests/fuzz/fuzzers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/error.h"

// The name of each fuzzer, of its folder in corpus/, and of its function fuzz_NAME.
#define FOR_EACH_FUZZER(X) \
  X(toml)                  \
  X(arguments)             \
  X(config)                \
  X(sweep_file)            \
  X(sweep_folder)          \
  X(run_folder)            \
  X(checkpoint)            \
  X(checkpoint_list)       \
  X(safetensors)           \
  X(rename_map)            \
  X(prepared_text)         \
  X(labelled)              \
  X(pairs)                 \
  X(squad)                 \
  X(documents)             \
  X(records)               \
  X(prompt)                \
  X(tokenizer)             \
  X(compressed)            \
  X(images)

namespace weft::fuzz {

#define DECLARE(name) void fuzz_##name(std::string_view input);
FOR_EACH_FUZZER(DECLARE)
#undef DECLARE

const std::vector<Fuzzer>& all_fuzzers() {
#define LIST(name) {#name, fuzz_##name},
  static const std::vector<Fuzzer> fuzzers = {FOR_EACH_FUZZER(LIST)};
#undef LIST
  return fuzzers;
}

const Fuzzer* find_fuzzer(std::string_view name) {
  const auto found = std::ranges::find(all_fuzzers(), name, &Fuzzer::name);
  return found == all_fuzzers().end() ? nullptr : &*found;
}

void try_input(const Fuzzer& fuzzer, std::string_view input) {
  try {
    fuzzer.read(input);
  } catch (const core::Error&) {
  } catch (const std::exception& error) {
    demand(false, error.what());
  }
}

void demand(bool holds, const char* otherwise) {
  if (holds) return;
  std::fprintf(stderr, "neither read nor refused: %s\n", otherwise);
  std::abort();
}

}  // namespace weft::fuzz
