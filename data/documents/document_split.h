#pragma once

#include <span>
#include <vector>

#include "data/dataset.h"

namespace weft::data {

/// The split of each document: in an order drawn from `seed`, test and then validation take
/// documents until they have their share of all bytes, each at least one where its share is not 0;
/// training gets the others. `shares` are those of training, validation and test and add up to 1.
/// An Error where there are fewer documents than splits.
std::vector<Split> split_documents(std::span<const Index> bytes, const std::vector<double>& shares,
                                   std::uint64_t seed);

}  // namespace weft::data
