#include "data/shuffle.h"

#include "core/error.h"

namespace weft::data {

Shuffle::Shuffle(Index size, const core::Rng& stream) : size_(size), stream_(stream) {
  core::require(size >= 1, "shuffle: nothing to put in order");
  while ((Index(1) << 2 * half_bits_) < size) ++half_bits_;
}

Index Shuffle::operator[](Index place) const {
  core::require(place >= 0 && place < size_, "shuffle: place ", place, " of ", size_);
  constexpr std::uint64_t rounds = 6;
  const std::uint64_t mask = (std::uint64_t(1) << half_bits_) - 1;
  auto number = std::uint64_t(place);
  do {
    std::uint64_t left = number >> half_bits_, right = number & mask;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t mixed = left ^ (stream_.bits(right * rounds + round) & mask);
      left = right;
      right = mixed;
    }
    number = left << half_bits_ | right;
  } while (number >= std::uint64_t(size_));
  return Index(number);
}

}  // namespace weft::data
