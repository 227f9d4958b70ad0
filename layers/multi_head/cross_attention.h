#pragma once

#include "layers/multi_head/head_groups.h"

namespace weft::layers {

/// Attention of one sequence over another: queries are made from x, keys and values from what an
/// encoder made of a source. Positions play no part in it.
class CrossAttention {
 public:
  /// `site` describes the layer; its `heads` counts all groups.
  CrossAttention(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Init in,
                 Init out)
      : groups_(plan, site, HeadGroups::Inputs::two, in, out) {}

  /// x: [B * T, W], source: [B * S, W] -> [B * T, W].  `sequences`: T queries, S keys
  Var forward(const Pass& pass, const Var& x, const Var& source, const Sequences& sequences) const;

  /// One sequence's projected source, and what its queries keep for the next.
  struct State {
    Sequences sequences;
    std::vector<std::vector<HeadBlock>> keys;
    std::vector<std::unique_ptr<DecodeState>> queries;  ///< null where nothing is kept

    /// Shares the projected source.
    State copy() const { return {sequences, keys, copies_of(queries)}; }
  };
  /// source: [S, W]
  State begin(const Tensor& source) const;
  /// A token of each of these sequences.  x: [n, W] -> [n, W]
  Tensor step(const std::vector<State*>& states, const Tensor& x) const;

  Cost cost(const Sequences& sequences) const { return groups_.cost(sequences); }
  /// Numbers in weight matrices, and those times the rows that pass them.
  Index weights() const { return weight_rows(1, 1); }
  Index weight_rows(Index queries, Index keys) const { return groups_.weight_rows(queries, keys); }
  /// What the mechanisms charge for their parameters; an empty Var for nothing.  -> [1]
  Var penalty(const Pass& pass) const { return groups_.penalty(pass); }
  void visit(Inventory& inventory) { groups_.visit(inventory); }

 private:
  /// The mechanism of one group; `input` as projected.
  static Var attend(const Pass& pass, const HeadGroups::Group& group, AttentionInput input);

  HeadGroups groups_;
};

}  // namespace weft::layers
