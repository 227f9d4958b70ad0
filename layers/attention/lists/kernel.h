#pragma once

#include <algorithm>
#include <functional>
#include <limits>

#include "layers/attention/contract/lane.h"
#include "layers/attention/lists/token_list.h"

namespace weft::layers {

inline constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();
inline constexpr Index tokens_per_piece = 256;  // of a sequence, in a task that merges its rounds

/// Attention inside lists of tokens, of one or more rounds: what content-based mechanisms share
/// once they have decided which tokens belong together.
struct ListedProblem {
  Sequences sequences;
  Index heads, head_width;
  Index rounds = 1;
  Real scale = 1;
  /// Keys are the queries' matrix itself: their gradients are added up.
  bool shared_keys = false;
  /// A token that reads nothing else in any round (of one set, with `merge` mean) gives its value.
  bool self_as_fallback = true;
  enum class Merge {
    softmax,  ///< one softmax over the (round, key) pairs of all rounds; a token once in each list
    mean,     ///< a softmax for each slot, averaged over the slots of a token; one round
  };
  Merge merge = Merge::softmax;
  /// Added to the number of a token's slots in its mean.
  Real count_eps = 0;
  /// The list of one round of one head of one sequence: lane = sequence * heads + head.
  std::function<TokenList(Index lane, Index round)> list = nullptr;
  /// No row reads keys that are farther apart than this. Scratch is sized by it, so that a second
  /// step asks for what the first gave back.
  Index most_keys = 0;
  /// Slots of a list, the same for all lanes; of `merge` mean only.
  Index slots = 0;
  /// Each lane takes its rounds one after another instead of all at once, so that nothing is kept
  /// of a single round; for many rounds, of `merge` softmax and without a fallback.
  bool rounds_in_turn = false;
  core::Precision precision = core::Precision::float32;

  /// Backward blocks have at least this many rows where lists allow, and twice as many keys.
  static constexpr Index least_rows = 32;
  /// Floating-point operations of one list's backward pass, at most, whose rows read `keys` keys.
  Index backward_flops(Index rows, Index keys) const {
    return 10 * head_width * rows * std::max(keys, 2 * least_rows);
  }

  Index lanes() const { return sequences.batch * heads; }
  HeadLane lane(Index index) const { return {sequences, heads, heads, head_width, index}; }
  /// How many logarithms of sums are kept for each lane: one for each query or slot.
  Index log_sums_per_lane() const { return merge == Merge::mean ? slots : sequences.queries; }
};

/// q: [B n, H, D], k, v: [B m, H, D] -> out: [B n, H, D] and log_sums: [lanes, log_sums_per_lane],
/// the logarithm of each softmax's sum, -infinity where nothing is read.
void listed_forward(const ListedProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                    Heads out, Real* log_sums);

/// What the backward pass reads.
struct ListedSaved {
  ConstHeads q, k, v, out, dout;
  const Real* log_sums;
};

/// The gradients of q, k and v, with probabilities made again block by block: five products a
/// block. With shared keys dq holds both and dk is not touched.
void listed_backward(const ListedProblem& problem, const ListedSaved& saved, Heads dq, Heads dk,
                     Heads dv);

}  // namespace weft::layers
