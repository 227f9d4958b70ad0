#pragma once

#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "layers/attention/contract/attention.h"
#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// One head's query at decoding.
struct DecodeQuery {
  Index position, head;
  std::span<const Real> q, place;  ///< [D]
  Real scale;
  const RelativeTerms* relative;  ///< null for none
  const Entmax* entmax;           ///< null for softmax
  const SoftEdge* edge;           ///< null for none
};

/// The keys and values that a later query of the pattern can still read. A key's slot is used
/// again once its last reader has passed: a band keeps a ring of its window, global columns stay,
/// a pattern that reads everything keeps everything.
class KeyStore {
 public:
  KeyStore(const Pattern& pattern, Index width) : pattern_(pattern), width_(width) {}

  /// key, value: [width]
  void append(Index position, std::span<const Real> key, std::span<const Real> value);
  /// The slots that the query at a position reads.
  std::vector<Index> readable(Index query) const;
  /// One head, whose columns begin at `column`.  out: [D]
  void attend(const DecodeQuery& query, Index column, std::span<const Index> slots,
              std::span<Real> out) const;
  /// Frees what no query after this one reads.
  void forget(Index query);

  Index slots() const { return Index(positions_.size()); }
  Index live() const { return slots() - Index(free_.size()); }
  Index bytes() const { return 2 * slots() * width_ * Index(sizeof(Real)); }

 private:
  /// Scores of the slots become weights, in place.
  void normalise(const DecodeQuery& query, std::span<const Index> slots,
                 std::vector<Real>& row) const;
  void normalise_softly(const DecodeQuery& query, std::span<const Index> slots,
                        std::vector<Real>& row) const;

  struct Leaving {
    Index last_reader, slot;
    bool operator>(const Leaving& other) const { return last_reader > other.last_reader; }
  };

  const Pattern& pattern_;
  Index width_;
  std::vector<Index> positions_;  ///< of each slot; -1 for a free one
  std::vector<Index> free_;
  std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> leaving_;
  std::vector<Real> keys_, values_;
};

/// The heads of a decoding mechanism.
struct DecodeHeads {
  Index heads, width;
  Real scale;
  std::vector<Entmax> entmax = {};  ///< one for each head, or none for softmax
};

/// What decoding over patterns keeps: one store for all heads, or one for each, and the relative
/// terms of the offsets so far.
class KeyStores final : public CopiedState<KeyStores> {
 public:
  /// `width`: columns of each store.
  KeyStores(std::vector<Pattern> patterns, Index width)
      : patterns_(std::make_shared<const std::vector<Pattern>>(std::move(patterns))) {
    for (const Pattern& pattern : *patterns_) stores_.emplace_back(pattern, width);
  }

  Index bytes() const override;
  /// One token, all heads; `relative` and `edge` may be null.
  void step(const StepInput& input, const DecodeHeads& of, const RelativePositions* relative,
            const SoftEdge* edge, std::span<Real> out);

 private:
  /// Makes the terms hold every offset back from a position.
  void reach(Index position, const RelativePositions& relative, const DecodeHeads& of);

  /// Read by the stores, and shared with copies, whose stores read it too.
  std::shared_ptr<const std::vector<Pattern>> patterns_;
  std::vector<KeyStore> stores_;
  RelativePositions::Terms tables_;
  RelativeTerms terms_;
};

}  // namespace weft::layers
