#include "data/documents/document_split.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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

/// Orders documents by the numbers drawn for them, of equals the earlier one first.
struct DrawnLater {
  core::Rng stream;

  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return std::pair(stream.uniform(a), a) > std::pair(stream.uniform(b), b);
  }
};

/// Documents in an order drawn from a seed, as far as they are asked for: 4 bytes for each.
class DrawnOrder {
 public:
  DrawnOrder(std::size_t documents, std::uint64_t seed)
      : later_{core::Rng(seed).fold("documents")}, heap_(documents) {
    core::require(documents <= std::numeric_limits<std::uint32_t>::max(), documents,
                  " documents are more than can be drawn into splits: give each split files of its "
                  "own");
    std::iota(heap_.begin(), heap_.end(), std::uint32_t(0));
    std::ranges::make_heap(heap_, later_);
  }

  std::size_t left() const { return heap_.size(); }
  std::size_t first() const { return heap_.front(); }
  void pop() {
    std::ranges::pop_heap(heap_, later_);
    heap_.pop_back();
  }

 private:
  DrawnLater later_;
  std::vector<std::uint32_t> heap_;
};

}  // namespace

std::vector<Split> split_documents(std::span<const Index> bytes, const std::vector<double>& shares,
                                   std::uint64_t seed) {
  check_shares(shares, bytes.size());
  DrawnOrder order(bytes.size(), seed);
  const double all = double(std::accumulate(bytes.begin(), bytes.end(), Index(0)));
  std::vector<Split> splits(bytes.size(), Split::training);
  const auto take = [&](Split split, std::size_t left_for_others) {
    const double share = shares[std::size_t(split)] * all;
    double taken = 0;
    for (bool first = true; share > 0 && order.left() > left_for_others; first = false) {
      const std::size_t document = order.first();
      if (!first && taken + double(bytes[document]) / 2 > share) return;
      splits[document] = split;
      taken += double(bytes[document]);
      order.pop();
    }
  };
  take(Split::test, shares[1] > 0 ? 2 : 1);
  take(Split::validation, 1);
  return splits;
}

}  // namespace weft::data
