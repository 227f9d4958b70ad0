#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "layers/attention/contract/plan.h"
#include "layers/attention/contract/relative.h"
#include "layers/multi_head/head_projection.h"
#include "layers/parts/linear.h"
#include "layers/parts/rotary.h"

namespace weft::layers {

/// Some heads of a layer and the mechanism they share.
struct HeadGroupPlan {
  AttentionPlan attention;
  Index heads;
  ProjectionSettings projection = {};  ///< the same in all groups of a layer
};

/// Decoding states of all head groups of one layer.
struct MultiHeadState {
  std::vector<std::unique_ptr<DecodeState>> groups;
  std::vector<std::unique_ptr<DecodeState>> projections;  ///< null where nothing is kept

  Index bytes() const;
};

/// Attention as a sublayer: projections, one mechanism for each head group, and over all heads side
/// by side the output projection, unless the projections are sparse.
class MultiHead {
 public:
  /// `site` describes the layer; its `heads` counts all groups. `rotary` and `relative` may be
  /// null.
  MultiHead(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Init in, Init out,
            std::shared_ptr<const Rotary> rotary, const RelativeSettings* relative = nullptr);

  /// x: [B * T, W] -> [B * T, W]
  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
    const Var heads = mix(pass, x, sequences);
    return output_ ? output_->forward(heads) : heads;
  }
  /// residual + forward(x)
  Var onto(const Pass& pass, const Var& residual, const Var& x, const Sequences& sequences) const {
    const Var heads = mix(pass, x, sequences);
    return output_ ? output_->onto(residual, heads) : autograd::add(residual, heads);
  }

  MultiHeadState begin() const;
  /// One token.  x: [1, W] -> [1, W]
  Tensor step(MultiHeadState& state, const Tensor& x, Index position) const;

  /// `continued`: the sequences stand in the middle of streams, after all that is carried.
  Cost cost(const Sequences& sequences, bool continued = false) const;
  Index weights() const;
  Var penalty(const Pass& pass) const;
  std::vector<Metric> metrics() const;
  /// The most tokens before its segment that a head group can use, now and ever.
  Index memory_tokens() const;
  Index most_memory_tokens() const { return most_memory_tokens_; }
  /// How many keys each head reads of a long past; empty where some head group has no such number.
  std::vector<double> spans() const;
  void constrain();
  void visit(Inventory& inventory);

 private:
  struct Group {
    std::unique_ptr<Attention> attention;
    std::vector<Projection> projections;
    std::unique_ptr<HeadProjection> in;
    Index heads;
    Index columns;  ///< H D of this group
    std::shared_ptr<RelativePositions> relative;

    /// How many of the projections are made from keys; they stand last.
    Index key_sided() const {
      return std::ranges::count(projections, Projection::Side::keys, &Projection::side);
    }
  };

  void join_past(const Pass& pass, const Group& group, AttentionInput& input) const;
  /// All heads' outputs side by side: [B * T, H D]
  Var mix(const Pass& pass, const Var& x, const Sequences& sequences) const;
  /// Turns the blocks that rotary positions turn, where they stand.
  void turn(const Group& group, std::vector<HeadBlock>& blocks, Index length) const;

  std::vector<Group> groups_;
  std::optional<Linear> output_;
  Index most_memory_tokens_ = 0;
  std::shared_ptr<const Rotary> rotary_;
};

}  // namespace weft::layers
