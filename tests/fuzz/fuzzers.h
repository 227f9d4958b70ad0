#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::fuzz {

/// One parser or reader, given bytes that anybody could have written.
struct Fuzzer {
  std::string_view name;
  void (*read)(std::string_view input);
};

const std::vector<Fuzzer>& all_fuzzers();
/// Null when there is none of that name.
const Fuzzer* find_fuzzer(std::string_view name);

/// Reads an input. That it is refused (core::Error) is as good as that it is taken; any other
/// exception ends the process, as a crash would.
void try_input(const Fuzzer& fuzzer, std::string_view input);

/// Ends the process unless what must hold of an input that was taken does.
void demand(bool holds, const char* otherwise);

}  // namespace weft::fuzz
