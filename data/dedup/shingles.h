#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/real.h"

namespace weft::data {

/// A text as near-duplicates are compared: in lower case, runs of white space as one space, none at
/// the ends. `without_markup` puts a space in the place of <...>. Bytes that are not UTF-8 stay.
std::string normalised(std::string_view text, bool without_markup = false);

/// The distinct runs of `length` words of a normalised text, each hashed to 64 bits, sorted; none
/// where the text has fewer words.
std::vector<std::uint64_t> word_shingles(std::string_view normalised, core::Index length);

/// The share of what either sorted set holds that both hold; 0 for two empty sets.
double jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace weft::data
