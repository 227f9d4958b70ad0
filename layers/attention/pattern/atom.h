#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "core/real.h"
#include "layers/attention/contract/chunk_place.h"

namespace weft::layers {

/// Places [begin, end).
struct Interval {
  Index begin, end;
  bool operator==(const Interval&) const = default;
};

inline constexpr Index never = std::numeric_limits<Index>::max() / 4;

/// One rule about which keys a query may read. Positions fall into classes by their remainder mod
/// `modulus`, and a query reads keys of its own class only: place p of class r is position
/// p * modulus + r. With modulus 1 there is one class and places are positions.
class Atom {
 public:
  virtual ~Atom() = default;

  virtual Index modulus() const { return 1; }
  /// Appends what the query at a position reads among `places` places of its class: intervals,
  /// which may stick out at both ends and overlap those of other atoms.
  virtual void readable(Index query, Index places, std::vector<Interval>& out) const = 0;
  /// The query reads every key there is.
  virtual bool reads_all(Index) const { return false; }
  /// The last query position that reads a key: a decoder may forget it afterwards.
  virtual Index last_reader(Index key) const = 0;
  /// How far back queries read. Seen from where that begins, the pattern is the same as from 0.
  virtual LeftReach left_reach() const { return {LeftReach::everything, 1}; }

  /// Whether the query at position i reads the key at position j, of `keys`.
  bool reads(Index i, Index j, Index keys) const;
};

/// A key is read when any of the atoms says so, and counts once however many do.
using Pattern = std::vector<std::shared_ptr<const Atom>>;

enum class GlobalMode { rows, columns, both };

/// Every key.
Pattern full_pattern();
/// -right <= i - j <= left
Pattern band_pattern(Index left, Index right);
/// (i - j) mod dilation = 0 and -right dilation <= i - j <= left dilation
Pattern dilated_pattern(Index left, Index right, Index dilation);
/// i and j in the same block, or j in one of the `back` blocks before i's or the `ahead` after it.
Pattern block_local_pattern(Index block, Index back = 0, Index ahead = 0);
/// columns: j in positions; rows: i in positions.
Pattern global_pattern(std::vector<Index> positions, GlobalMode mode);
/// The key's block is listed for the query's block.
Pattern blocks_pattern(Index block, std::vector<std::vector<Index>> listed);
/// The last `stride` keys, and every key a multiple of `stride` back.
Pattern strided_pattern(Index stride);
/// The past of i's own block.
Pattern past_of_block_pattern(Index block);
/// Of every block of `stride`, the `count` columns that end `skip` columns before its end, as far
/// as they lie in i's past.
Pattern summary_pattern(Index stride, Index count, Index skip = 0);
/// The two together.
Pattern fixed_pattern(Index stride, Index count);

/// How far back the queries of all these patterns read.
LeftReach left_reach(const std::vector<Pattern>& patterns);

/// The same rules for every query but these, which read nothing.
Pattern without_rows(const Pattern& pattern, std::vector<Index> queries);

/// a and b together.
Pattern united(Pattern a, const Pattern& b);

/// Sorts intervals, cuts them to [0, limit) and joins those that touch.
void normalise(std::vector<Interval>& intervals, Index limit);

}  // namespace weft::layers
