#pragma once

#include <algorithm>

#include "layers/attention/pattern/plan.h"

namespace weft::layers {

/// How many tasks share the blocks of a lane, each with its own sum of key gradients: enough for
/// eight tasks in all. It depends on the shape alone, so results do not depend on the number of
/// threads.
inline Index shares_of(Index lanes) { return std::max<Index>(1, 8 / lanes); }

/// The blocks of one round that one share of a lane sweeps: first, first + step, ... below end.
struct Share {
  Index first, end, step;
};

/// Keys that a block reads lie in [begin, end).
inline Interval keys_of(const PatternPlan& plan, const PatternPlan::Block& block) {
  Interval keys{never, 0};
  for (Index p = block.first_panel; p < block.first_panel + block.panels; ++p) {
    const PatternPlan::Panel& panel = plan.panels[std::size_t(p)];
    const bool listed = panel.list >= 0;
    const Index first = listed ? plan.gathered[std::size_t(panel.list)] : panel.first_key;
    const Index last = listed ? plan.gathered[std::size_t(panel.list + panel.columns - 1)]
                              : first + (panel.columns - 1) * panel.step;
    keys = {std::min(keys.begin, first), std::max(keys.end, last + 1)};
  }
  return keys;
}

/// How a lane's blocks are shared out: turn by turn where blocks read far, so that shares cost the
/// same, and in stretches where they read near, so that a share's keys are few.
class Shares {
 public:
  Shares(const PatternPlan& plan, Index count) : plan_(plan), count_(count) {
    for (const PatternPlan::Block& block : plan.blocks) {
      const Interval keys = keys_of(plan, block);
      near_ = near_ && keys.end - keys.begin <= plan.keys / 8;
    }
  }

  Share of(const PatternPlan::Round& round, Index share) const {
    if (!near_) return {round.first_block + share, round.first_block + round.blocks, count_};
    return {round.first_block + round.blocks * share / count_,
            round.first_block + round.blocks * (share + 1) / count_, 1};
  }

  /// The keys that a share reads in any round.
  Interval keys(Index share) const {
    Interval all{never, 0};
    for (const PatternPlan::Round& round : plan_.rounds) {
      const Share blocks = of(round, share);
      for (Index b = blocks.first; b < blocks.end; b += blocks.step) {
        const Interval own = keys_of(plan_, plan_.blocks[std::size_t(b)]);
        all = {std::min(all.begin, own.begin), std::max(all.end, own.end)};
      }
    }
    return all.begin < all.end ? all : Interval{0, 0};
  }

 private:
  const PatternPlan& plan_;
  Index count_;
  bool near_ = true;
};

}  // namespace weft::layers
