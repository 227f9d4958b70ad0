#pragma once

#include "layers/multi_head/multi_head.h"

namespace weft::layers {

/// Attention of one sequence over another: queries are made from x, keys and values from what an
/// encoder made of a source. Positions play no part in it.
class CrossAttention {
 public:
  /// `site` describes the layer; its `heads` counts all groups.
  CrossAttention(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Init in,
                 Init out);

  /// x: [B * T, W], source: [B * S, W] -> [B * T, W].  `sequences`: T queries, S keys
  Var forward(const Pass& pass, const Var& x, const Var& source, const Sequences& sequences) const;

  /// One sequence's projected source, and what its queries leave behind.
  struct State {
    Sequences sequences;
    std::vector<std::vector<HeadBlock>> keys;
    std::vector<std::unique_ptr<DecodeState>> queries;  ///< null where nothing is kept
  };
  /// source: [S, W]
  State begin(const Tensor& source) const;
  /// One token.  x: [1, W] -> [1, W]
  Tensor step(State& state, const Tensor& x) const;

  Cost cost(const Sequences& sequences) const;
  Index weights() const;
  /// Numbers in weight matrices times the rows that pass them.
  Index weight_rows(Index queries, Index keys) const;
  Var penalty(const Pass& pass) const;
  std::vector<Metric> metrics() const;
  void constrain();
  void visit(Inventory& inventory);

 private:
  struct Group {
    std::unique_ptr<Attention> attention;
    std::unique_ptr<HeadProjection> queries, keys;
    std::size_t query_sided;  ///< how many projections are made from x; they stand first
    Index columns;            ///< H D of this group
  };
  Var finish(const std::vector<Var>& heads) const;

  std::vector<Group> groups_;
  std::optional<Linear> output_;
};

}  // namespace weft::layers
