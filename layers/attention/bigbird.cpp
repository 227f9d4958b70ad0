// BigBird (ITC) by blocks: a window of blocks, random blocks drawn once, and global blocks, the
// first and the last, that everyone reads and that read everyone. Each key counts once. In causal
// use the last block is no more global than others: which one it is lies in the future.
#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "layers/attention/pattern/drawn_attention.h"

namespace weft::layers {
namespace {

struct BigBirdSettings {
  DrawnBlocks::Settings drawn;
  Index window = 3;
  ScoreSettings scores;

  void fields(core::Fields& field, const AttentionSite& typical) {
    field.integer("window", window, "blocks of the window, its own in the middle: 1, 3, 5, ...",
                  core::at_least(1));
    drawn.fields(field, "random", typical, window + (typical.causal ? 1 : 2));
    scores.list_first(field);
    scores.fields(field);
    if (window % 2 == 0)
      field.problem("window", "an even number of blocks has no middle; take an odd one");
  }

  AttentionTraits traits() const {
    return {
        .summary = "softmax over a window of blocks, global blocks and blocks drawn once",
        .keys_per_token = core::message_of("at most ", (window + 2 + drawn.count) * drawn.block,
                                           "; a global block's all"),
        .decode_state = "the first block, the window, and drawn blocks until their last reader"};
  }
};

/// Positions of the first block and, where attention reads both ways, of the last.
std::vector<Index> global_positions(const AttentionSite& site, Index block) {
  std::vector<Index> positions(std::size_t(std::min(block, site.length)));
  std::iota(positions.begin(), positions.end(), 0);
  const Index last = (site.length - 1) / block * block;
  if (!site.causal)
    for (Index p = last; p < site.length; ++p) positions.push_back(p);
  return positions;
}

}  // namespace

AttentionPlan configure_bigbird(core::Fields& field, const AttentionSite& typical) {
  BigBirdSettings settings;
  settings.fields(field, typical);
  const auto make = [settings](const AttentionSite& site) {
    const Index block = settings.drawn.block, side = settings.window / 2;
    Pattern others = united(block_local_pattern(block, side, side),
                            global_pattern(global_positions(site, block), GlobalMode::both));
    return std::make_unique<DrawnAttention>(site, settings.scores.with_first(std::move(others)),
                                            settings.drawn, settings.scores);
  };
  return {make, settings.scores.complete(settings.traits())};
}

}  // namespace weft::layers
