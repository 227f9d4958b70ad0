#pragma once

#include <span>
#include <vector>

#include "layers/attention/attention.h"
#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// The keys and values that a later query of the pattern can still read. A key's slot is used
/// again once its last reader has passed: a band keeps a ring of its window, global columns stay,
/// a pattern that reads everything keeps everything.
class KeyStore {
 public:
  KeyStore(const Pattern& pattern, Index width) : pattern_(pattern), width_(width) {}

  /// key, value: [width]
  void append(Index position, std::span<const Real> key, std::span<const Real> value);
  /// One head, whose columns begin at `column`.  q, out: [D]
  void attend(Index query, Index column, std::span<const Real> q, Real scale,
              std::span<Real> out) const;
  /// Frees what no query after this one reads.
  void forget(Index query);

  Index slots() const { return Index(positions_.size()); }
  Index bytes() const { return 2 * slots() * width_ * Index(sizeof(Real)); }

 private:
  const Pattern& pattern_;
  Index width_;
  std::vector<Index> positions_;  ///< of each slot; -1 for a free one
  std::vector<Index> free_;
  std::vector<Real> keys_, values_;
};

/// One store for all heads, or one for each.
struct KeyStores final : DecodeState {
  KeyStores(const std::vector<Pattern>& patterns, Index width) {
    for (const Pattern& pattern : patterns) stores.emplace_back(pattern, width);
  }
  Index bytes() const override {
    Index total = 0;
    for (const KeyStore& store : stores) total += store.bytes();
    return total;
  }
  std::vector<KeyStore> stores;
};

}  // namespace weft::layers
