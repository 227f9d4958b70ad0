#pragma once

#include <string_view>
#include <vector>

#include "core/real.h"

namespace weft::data {

struct NearDuplicateSettings {
  double threshold = 0.8;       ///< Jaccard similarity from which documents count as the same
  core::Index words = 5;        ///< words in a shingle; shorter documents are compared as they are
  core::Index functions = 128;  ///< components of a signature
  core::Index largest = 1000;   ///< different documents in a cluster that may go without a look
  bool without_markup = false;  ///< <...> does not count
  std::uint64_t seed = 1;
};

/// A document that repeats an earlier one.
struct Repeat {
  core::Index document = 0;
  core::Index kept = 0;  ///< the first of its cluster
  /// The document by which it joined the cluster: at least `threshold` alike. Often `kept` itself.
  core::Index match = 0;
  double match_similarity = 1;
  double kept_similarity = 1;  ///< less than the threshold where a chain led here

  bool operator==(const Repeat&) const = default;
};

struct NearDuplicates {
  std::vector<Repeat> repeats;  ///< by document
  /// Clusters that are too large to be trusted, by their first document: nothing of them is among
  /// the repeats but what is the same word for word.
  std::vector<std::vector<core::Index>> refused;
};

/// Finds documents that repeat earlier ones. Those that are the same after normalising go by their
/// text; the rest by the sets of their word shingles: MinHash signatures and their bands propose
/// pairs, each of which counts only if its exact Jaccard similarity reaches the threshold, and what
/// counted pairs join is a cluster. Clusters do not depend on the order of the documents, nothing
/// depends on the number of threads.
/// Time: all shingles x functions. Memory: 8 x functions bytes for each document.
NearDuplicates find_near_duplicates(const std::vector<std::string_view>& documents,
                                    const NearDuplicateSettings& settings);

}  // namespace weft::data
