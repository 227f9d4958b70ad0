#include "data/documents/document_split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"

namespace weft::data {
namespace {

void check_shares(const std::vector<double>& shares, std::size_t documents) {
  core::require(shares.size() == 3, "three shares are needed: training, validation, test");
  double sum = 0;
  std::size_t used = 0;
  for (const double share : shares) {
    core::require(share >= 0, "a share must not be negative, got ", share);
    sum += share;
    used += share > 0;
  }
  core::require(std::abs(sum - 1) < 1e-9, "the shares of documents must add up to 1, not ", sum);
  core::require(shares[0] > 0, "training needs a share above 0");
  if (documents < used)
    throw core::Error(core::Fault::data,
                      core::message_of("there are ", documents, " documents for ", used,
                                       " splits: cut the text into smaller ones (--documents "
                                       "blank or lines), or give fewer splits a share"));
}

}  // namespace

std::vector<Split> split_documents(std::span<const Index> bytes, const std::vector<double>& shares,
                                   std::uint64_t seed) {
  check_shares(shares, bytes.size());
  const core::Rng stream = core::Rng(seed).fold("documents");
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) order.emplace_back(stream.uniform(i), i);
  std::ranges::sort(order);
  const double all = double(std::accumulate(bytes.begin(), bytes.end(), Index(0)));
  std::vector<Split> splits(bytes.size(), Split::training);
  std::size_t next = 0;
  const auto take = [&](Split split, std::size_t left_for_others) {
    const double share = shares[std::size_t(split)] * all;
    double taken = 0;
    for (bool first = true; share > 0 && next + left_for_others < order.size(); first = false) {
      const std::size_t document = order[next].second;
      if (!first && taken + double(bytes[document]) / 2 > share) return;
      splits[document] = split;
      taken += double(bytes[document]);
      ++next;
    }
  };
  take(Split::test, shares[1] > 0 ? 2 : 1);
  take(Split::validation, 1);
  return splits;
}

}  // namespace weft::data
