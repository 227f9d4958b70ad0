#include "data/dedup/near_duplicates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "core/error.h"
#include "core/parallel.h"
#include "data/dedup/min_hash.h"
#include "data/dedup/shingles.h"

namespace weft::data {

using core::Index;

namespace {

/// Sets that are joined, each named by its least member.
class Joined {
 public:
  explicit Joined(std::size_t size) : above_(size) { std::iota(above_.begin(), above_.end(), 0); }

  Index first_of(Index member) {
    while (above_[std::size_t(member)] != member) {
      Index& above = above_[std::size_t(member)];
      member = above = above_[std::size_t(above)];
    }
    return member;
  }
  void join(Index a, Index b) {
    const auto [low, high] = std::minmax({first_of(a), first_of(b)});
    above_[std::size_t(high)] = low;
  }

 private:
  std::vector<Index> above_;
};

struct Pair {
  Index low, high;
  double similarity = -1;  ///< exact, once it is known
};

class Search {
 public:
  Search(const std::vector<std::string_view>& documents, const NearDuplicateSettings& settings)
      : documents_(documents),
        settings_(settings),
        bands_(bands_for(settings.threshold, settings.functions)),
        joined_(documents.size()) {
    const double t = settings.threshold;
    // Four deviations below the threshold an estimate speaks for itself.
    hopeless_ = t - 4 * std::sqrt(t * (1 - t) / double(settings.functions));
  }

  NearDuplicates run() {
    find_equal_texts();
    sign();
    for (Index band = 0; band < bands_.count; ++band) search_band(band);
    return collect();
  }

 private:
  std::vector<std::uint64_t> shingles(Index document) const {
    return word_shingles(normalised(documents_[std::size_t(document)], settings_.without_markup),
                         settings_.words);
  }
  std::span<std::uint64_t> signature(std::size_t place) {
    const auto width = std::size_t(settings_.functions);
    return std::span(signatures_).subspan(place * width, width);
  }

  void find_equal_texts();
  void sign();
  void search_band(Index band);
  bool worth_checking(std::size_t a, std::size_t b, Index band);
  void check(std::vector<Pair>& pairs);
  std::vector<Repeat> repeats_in(const std::vector<Index>& cluster,
                                 const std::map<Index, std::vector<Pair>>& links) const;
  NearDuplicates collect();

  const std::vector<std::string_view>& documents_;
  const NearDuplicateSettings& settings_;
  const Bands bands_;
  double hopeless_;
  std::vector<Repeat> equal_;              // documents that are the same as an earlier one
  std::vector<Index> different_;           // documents with shingles of which none are the same
  std::vector<std::uint64_t> signatures_;  // [different, functions]
  Joined joined_;
  std::vector<Pair> links_;  // verified pairs that joined two clusters
};

/// Sorts the documents out: equal to an earlier one, too short for shingles, or to be compared.
void Search::find_equal_texts() {
  const auto count = Index(documents_.size());
  std::vector<std::uint64_t> keys(documents_.size());
  std::vector<char> comparable(documents_.size());
  core::parallel_for(count, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const std::string text = normalised(documents_[std::size_t(i)], settings_.without_markup);
      keys[std::size_t(i)] = std::hash<std::string>()(text);
      comparable[std::size_t(i)] =
          std::ranges::count(text, ' ') + 1 >= settings_.words && !text.empty();
    }
  });
  const auto text_of = [&](Index i) {
    return normalised(documents_[std::size_t(i)], settings_.without_markup);
  };
  std::unordered_multimap<std::uint64_t, Index> first;  // of each text
  for (Index i = 0; i < count; ++i) {
    const auto [begin, end] = first.equal_range(keys[std::size_t(i)]);
    const auto same = std::find_if(
        begin, end, [&](const auto& own) { return text_of(own.second) == text_of(i); });
    if (same != end) {
      equal_.push_back({.document = i, .kept = same->second, .match = same->second});
      continue;
    }
    first.emplace(keys[std::size_t(i)], i);
    if (comparable[std::size_t(i)]) different_.push_back(i);
  }
}

void Search::sign() {
  const MinHash hash(settings_.functions, settings_.seed);
  signatures_.resize(different_.size() * std::size_t(settings_.functions));
  core::parallel_for(Index(different_.size()), 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      hash.sign(shingles(different_[std::size_t(i)]), signature(std::size_t(i)));
  });
}

/// Whether a pair that shares a band is new and its signatures leave hope.
bool Search::worth_checking(std::size_t a, std::size_t b, Index band) {
  const Index low = different_[a], high = different_[b];
  if (joined_.first_of(low) == joined_.first_of(high)) return false;
  const auto rows = std::size_t(bands_.rows);
  const auto x = signature(a), y = signature(b);
  for (std::size_t before = 0; before < std::size_t(band); ++before)
    if (std::ranges::equal(x.subspan(before * rows, rows), y.subspan(before * rows, rows)))
      return false;
  return estimated_jaccard(x, y) >= hopeless_;
}

/// Pairs whose band hashes alike, checked some at a time: what is joined by then needs no check.
void Search::search_band(Index band) {
  constexpr std::size_t pairs_at_once = 1 << 14, bytes_at_once = 1 << 26;
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < different_.size(); ++i)
    order.emplace_back(band_hash(signature(i), bands_, band), i);
  std::ranges::sort(order);
  std::vector<Pair> pairs;
  std::size_t bytes = 0;  // of their texts
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && order[end].first == order[begin].first) ++end;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = i + 1; j < end; ++j) {
        const std::size_t a = order[i].second, b = order[j].second;
        if (!worth_checking(a, b, band)) continue;
        pairs.push_back({different_[a], different_[b]});
        bytes += documents_[std::size_t(different_[a])].size() +
                 documents_[std::size_t(different_[b])].size();
        if (pairs.size() < pairs_at_once && bytes < bytes_at_once) continue;
        check(pairs);
        bytes = 0;
      }
  }
  check(pairs);
}

/// Computes exact similarities, each document's shingles once, and joins what is alike.
void Search::check(std::vector<Pair>& pairs) {
  std::vector<Index> members;
  for (const Pair& pair : pairs) members.insert(members.end(), {pair.low, pair.high});
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::vector<std::vector<std::uint64_t>> sets(members.size());
  core::parallel_for(Index(members.size()), 4, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) sets[std::size_t(i)] = shingles(members[std::size_t(i)]);
  });
  const auto set_of = [&](Index document) -> const auto& {
    return sets[std::size_t(std::ranges::lower_bound(members, document) - members.begin())];
  };
  core::parallel_for(Index(pairs.size()), 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Pair& pair = pairs[std::size_t(i)];
      pair.similarity = jaccard(set_of(pair.low), set_of(pair.high));
    }
  });
  for (const Pair& pair : pairs) {
    if (pair.similarity < settings_.threshold) continue;
    if (joined_.first_of(pair.low) == joined_.first_of(pair.high)) continue;
    joined_.join(pair.low, pair.high);
    links_.push_back(pair);
  }
  pairs.clear();
}

/// Walks from the first document of a cluster along its links to all others.
std::vector<Repeat> Search::repeats_in(const std::vector<Index>& cluster,
                                       const std::map<Index, std::vector<Pair>>& links) const {
  const Index kept = cluster.front();
  std::vector<Repeat> found;
  std::vector<std::pair<Index, Index>> open = {{kept, -1}};  // document, where from
  while (!open.empty()) {
    const auto [at, from] = open.back();
    open.pop_back();
    for (const Pair& pair : links.at(at)) {
      const Index next = pair.low == at ? pair.high : pair.low;
      if (next == from) continue;
      open.emplace_back(next, at);
      found.push_back({.document = next,
                       .kept = kept,
                       .match = at,
                       .match_similarity = pair.similarity,
                       .kept_similarity = at == kept ? pair.similarity : -1});
    }
  }
  const auto first = shingles(kept);
  core::parallel_for(Index(found.size()), 4, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Repeat& repeat = found[std::size_t(i)];
      if (repeat.kept_similarity < 0)
        repeat.kept_similarity = jaccard(first, shingles(repeat.document));
    }
  });
  return found;
}

NearDuplicates Search::collect() {
  std::map<Index, std::vector<Pair>> links;
  std::map<Index, std::vector<Index>> clusters;
  for (const Pair& pair : links_) {
    links[pair.low].push_back(pair);
    links[pair.high].push_back(pair);
  }
  for (const auto& [document, pairs] : links)
    clusters[joined_.first_of(document)].push_back(document);
  NearDuplicates result;
  std::map<Index, Index> kept;  // in place of a text that itself repeats another
  for (const auto& [first, cluster] : clusters) {
    if (Index(cluster.size()) > settings_.largest) {
      result.refused.push_back(cluster);
      continue;
    }
    for (const Repeat& repeat : repeats_in(cluster, links)) {
      result.repeats.push_back(repeat);
      kept[repeat.document] = first;
    }
  }
  std::map<Index, double> similarity;
  for (const Repeat& repeat : result.repeats) similarity[repeat.document] = repeat.kept_similarity;
  for (Repeat repeat : equal_) {
    if (const auto found = kept.find(repeat.match); found != kept.end()) {
      repeat.kept = found->second;
      repeat.kept_similarity = similarity.at(repeat.match);
    }
    result.repeats.push_back(repeat);
  }
  std::ranges::sort(result.repeats, {}, &Repeat::document);
  return result;
}

}  // namespace

NearDuplicates find_near_duplicates(const std::vector<std::string_view>& documents,
                                    const NearDuplicateSettings& settings) {
  core::require(settings.threshold > 0 && settings.threshold <= 1,
                "near-duplicates: the threshold must lie above 0 and at most at 1, got ",
                settings.threshold);
  core::require(settings.words >= 1 && settings.functions >= 1 && settings.largest >= 1,
                "near-duplicates: words, functions and largest must be at least 1");
  return Search(documents, settings).run();
}

}  // namespace weft::data
