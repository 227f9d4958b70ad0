#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "layers/multi_head/head_groups.h"
#include "layers/parts/rotary.h"

namespace weft::layers {

/// Decoding states of all head groups of one layer.
struct MultiHeadState final : DecodeState {
  std::vector<std::unique_ptr<DecodeState>> groups;
  std::vector<std::unique_ptr<DecodeState>> projections;  ///< null where nothing is kept
  std::vector<std::unique_ptr<DecodeState>> fittings;     ///< likewise

  Index bytes() const override;
  std::unique_ptr<DecodeState> copy() const override;
};

/// Attention of sequences over themselves as a sublayer, with rotary positions where they are given
/// and with what earlier segments carry.
class MultiHead {
 public:
  /// `site` describes the layer; its `heads` counts all groups. `rotary` and `relative` may be
  /// null.
  MultiHead(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Init in, Init out,
            std::shared_ptr<const Rotary> rotary, const RelativeSettings* relative = nullptr);

  /// x: [B * T, W] -> [B * T, W]
  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
    return groups_.finish(mix(pass, x, sequences));
  }
  /// residual + forward(x)
  Var onto(const Pass& pass, const Var& residual, const Var& x, const Sequences& sequences) const {
    return groups_.finish_onto(residual, mix(pass, x, sequences));
  }

  MultiHeadState begin() const;
  /// Single tokens, whose states are MultiHeadStates.  x: [n, W] -> [n, W]
  Tensor step(const StepRows& rows, const Tensor& x) const;

  /// `continued`: the sequences are in the middle of streams, after all that is carried.
  Cost cost(const Sequences& sequences, bool continued = false) const;
  /// Numbers in weight matrices.
  Index weights() const { return groups_.weight_rows(1, 0); }
  /// What the mechanisms charge for their parameters; an empty Var for nothing.  -> [1]
  Var penalty(const Pass& pass) const { return groups_.penalty(pass); }
  /// The most tokens before its segment that a head group can use: now, and at any time.
  Index memory_tokens() const;
  Index most_memory_tokens() const { return most_memory_tokens_; }
  /// How many numbers of each stream the states of its recurrences have.
  Index carried_numbers() const;
  /// In chunks: what chunk `from` of these many sequences sends chunk `to`, numbers to the right
  /// and gradients to the left.
  core::Traffic chunk_traffic(const core::ChunkCut& cut, Index batch, Index from, Index to) const;
  /// How many keys each head reads of a long past; empty where some head group has no such number.
  std::vector<double> spans() const;
  void visit(Inventory& inventory) { groups_.visit(inventory); }

 private:
  using Group = HeadGroups::Group;

  /// One token of one group.  packed: the token's projections side by side, out: [H D]
  void step_group(std::size_t g, const StepRow& row, const Tensor& packed, std::span<const Real> x,
                  std::span<Real> out) const;
  void join_past(const Pass& pass, const Group& group, AttentionInput& input) const;
  void join_left(const Pass& pass, const Group& group, AttentionInput& input) const;
  /// All heads' outputs side by side: [B * T, H D]
  Var mix(const Pass& pass, const Var& x, const Sequences& sequences) const;
  /// Turns the blocks that rotary positions turn, in place.
  void turn(const Group& group, std::vector<HeadBlock>& blocks, const Sequences& sequences) const;

  HeadGroups groups_;
  Index most_memory_tokens_ = 0;
  std::shared_ptr<const Rotary> rotary_;
};

}  // namespace weft::layers
