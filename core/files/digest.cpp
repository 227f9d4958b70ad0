#include "core/files/digest.h"

#include <xxhash.h>

namespace weft::core {

struct Digest::State {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash{XXH3_createState(),
                                                                       XXH3_freeState};
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->hash.get()); }
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;

void Digest::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_->hash.get(), bytes.data(), bytes.size());
}

std::string Digest::text() const {
  constexpr char digits[] = "0123456789abcdef";
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state_->hash.get()));
  std::string text;
  for (const unsigned char byte : bytes.digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace weft::core
