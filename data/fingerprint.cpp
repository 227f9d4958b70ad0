#include "data/fingerprint.h"

#include <xxhash.h>

#include <iomanip>
#include <sstream>

namespace weft::data {

std::string fingerprint_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << hash.high64 << std::setw(16)
       << hash.low64;
  return text.str();
}

}  // namespace weft::data
