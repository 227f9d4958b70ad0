// Texts that may be compressed.
#include "data/files/byte_stream.h"
#include "tests/fuzz/fuzzers.h"
#include "tests/fuzz/scratch.h"

namespace weft::fuzz {

using namespace data;

void fuzz_compressed(std::string_view input) {
  ByteStream stream(scratch_file("text", input).string());
  std::string buffer(1 << 12, '\0');
  core::Index bytes = 0;
  while (const std::size_t got = stream.read(buffer)) bytes += core::Index(got);
  demand(bytes <= most_unpacked_text(core::Index(input.size())), "more than it may hold");
}

}  // namespace weft::fuzz
