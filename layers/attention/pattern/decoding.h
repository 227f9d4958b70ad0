#pragma once

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
  const Real* sink = nullptr;     ///< a logit without a value; null for none
  /// The head's decay up to the query and up to each position, `decay_step` apart; null for none.
  const double* decay = nullptr;
  Index decay_step = 0;
};

/// The keys and values that a later query of the pattern can still read. A key's slot is used
/// again once its last reader has passed: a band keeps a ring of its window, global columns stay,
/// a pattern that reads everything keeps everything.
class KeyStore {
 public:
  KeyStore(Pattern pattern, Index width) : pattern_(std::move(pattern)), width_(width) {}

  /// key, value: [width]
  void append(Index position, std::span<const Real> key, std::span<const Real> value);
  /// The slots that the query at a position reads by a pattern, the store's or a part of it.
  std::vector<Index> readable(const Pattern& pattern, Index query) const;
  /// One head, whose keys' columns begin at `column`.  out: [D]
  void attend(const DecodeQuery& query, Index column, std::span<const Index> slots,
              std::span<Real> out) const;
  /// Frees keys that no later query reads.
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

  Pattern pattern_;
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
  Index kv_heads = 0;               ///< of keys and values; 0 where each head has its own
  Tensor sinks = {};                ///< [H], or empty for none
  /// Sums of decays up to every position so far, [positions, H]; empty for none.
  std::span<const double> decay = {};

  Index key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
};

/// What decoding over patterns keeps: one store for all heads of keys, or one for each where heads
/// have different patterns, and the relative terms of the offsets so far.
class KeyStores final : public CopiedState<KeyStores> {
 public:
  /// `patterns`: one for all heads, or one for each. A store keeps what any of the heads that share
  /// it can still read.
  KeyStores(std::vector<Pattern> patterns, const DecodeHeads& of);

  Index bytes() const override;
  /// One token, all heads; `relative` and `edge` may be null.
  void step(const StepInput& input, const DecodeHeads& of, const RelativePositions* relative,
            const SoftEdge* edge, std::span<Real> out);

 private:
  /// Makes the terms hold every offset back from a position.
  void reach(Index position, const RelativePositions& relative, const DecodeHeads& of);

  std::vector<Pattern> patterns_;
  std::vector<KeyStore> stores_;
  RelativePositions::Terms tables_;
  RelativeTerms terms_;
};

}  // namespace weft::layers
