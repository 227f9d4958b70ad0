#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "layers/attention/contract/plan.h"
#include "layers/attention/contract/relative.h"
#include "layers/multi_head/head_fittings.h"
#include "layers/multi_head/head_projection.h"

namespace weft::layers {

/// Some heads of a layer and the mechanism they share.
struct HeadGroupPlan {
  AttentionPlan attention;
  Index heads;
  ProjectionSettings projection = {};  ///< the same in all groups of a layer
  FittingSettings fittings = {};
};

/// The heads of one layer in groups: each group's mechanism and projections, and over all heads
/// side by side the output projection, unless the projections are sparse.
class HeadGroups {
 public:
  /// From how many inputs projections are made: all from one, or queries from one and keys from
  /// another.
  enum class Inputs { one, two };

  struct Group {
    std::unique_ptr<Attention> attention;
    std::vector<Projection> projections;          ///< those made from keys are last
    std::shared_ptr<RelativePositions> relative;  ///< null for none
    std::unique_ptr<HeadProjection> in;           ///< of the only input, or of the queries'
    std::unique_ptr<HeadProjection> keys;         ///< of the keys' input; null where there is one
    std::unique_ptr<HeadFittings> fittings;
    Index heads = 0;
    Index columns = 0;  ///< H D of this group, as its output has them

    Index head_width() const { return columns / heads; }
    /// Columns of the projections, all or those made from keys.
    Index projected_columns() const;
    Index key_columns() const;

    /// How many of the projections are made from keys.
    Index key_sided() const;
    std::size_t query_sided() const { return projections.size() - std::size_t(key_sided()); }
  };

  /// `site` describes the layer; its `heads` counts all groups. `relative` may be null.
  HeadGroups(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Inputs inputs,
             Init in, Init out, const RelativeSettings* relative = nullptr);

  auto begin() const { return groups_.begin(); }
  auto end() const { return groups_.end(); }
  std::size_t size() const { return groups_.size(); }
  const Group& operator[](std::size_t g) const { return groups_[g]; }

  /// The groups' outputs side by side: [N, H D] all together
  static Var side_by_side(const std::vector<Var>& heads);
  /// The output projection.  heads: [N, H D] -> [N, W]
  Var finish(const Var& heads) const { return output_ ? output_->forward(heads) : heads; }
  /// residual + finish(heads)
  Var finish_onto(const Var& residual, const Var& heads) const;

  /// What the mechanisms cost.
  Cost cost(const Sequences& sequences) const;
  /// Numbers in weight matrices times the rows that pass them.
  Index weight_rows(Index queries, Index keys) const;
  /// What the mechanisms charge for their parameters; an empty Var for nothing.  -> [1]
  Var penalty(const Pass& pass) const;
  void visit(Inventory& inventory);

 private:
  std::vector<Group> groups_;
  std::optional<Linear> output_;
};

}  // namespace weft::layers
