#pragma once

#include <functional>
#include <optional>

#include "autograd/parameter.h"
#include "core/fields.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/global_local/graph.h"
#include "layers/attention/global_local/rows.h"
#include "layers/attention/pattern/call.h"
#include "layers/attention/pattern/plan_cache.h"

namespace weft::layers {

/// Which projections the two sides share: all of them; keys and values whatever is read,
/// but each side its own set; or nothing, each side having keys and values for either.
enum class SideSharing { all, own_set, nothing };

/// The settings of global-local attention, for any pattern by which tokens read each other.
struct GlobalLocalSettings {
  GlobalTokens globals;
  GlobalLocalRules rules;
  SideSharing share = SideSharing::all;
  double label_deviation = 0.02;

  void fields(core::Fields& field);
};

/// The traits of such a mechanism if its tokens read `near` others.
AttentionTraits global_local_traits(std::string_view summary, Index near,
                                    const GlobalLocalSettings& settings);

/// ETC's attention. Tokens read each other by a pattern and the global tokens; global tokens read
/// all. One softmax for each row, in which
///   score = (q . k + q . a[label] + b[label]) / sqrt(D)
/// with the tables a and b of the row's side. See GlobalLocalRules for labels.
class GlobalLocalAttention final : public Attention {
 public:
  /// Which tokens read each other: one pattern for all heads, or one for each.
  using Local = std::function<std::vector<Pattern>()>;

  GlobalLocalAttention(const GlobalLocalSettings& settings, const AttentionSite& site, Local local,
                       std::shared_ptr<PlanCache> plans);

  std::vector<Projection> projections() const override;
  /// Saves: the projections, and for each row and head the output and one log-sum; without shared
  /// keys those that either side reads too.
  Var forward(const Pass& pass, const AttentionInput& input) const override;
  /// The same over given structures, one for each sequence.
  Var attend(const Pass& pass, const AttentionInput& input,
             const std::vector<GlobalLocalStructure>& structures) const;

  std::unique_ptr<DecodeState> begin() const override { refuse_decoding(); }
  void step(DecodeState&, const StepInput&, std::span<Real>) const override { refuse_decoding(); }
  Cost cost(const Sequences& sequences) const override;
  void visit(autograd::Inventory& inventory) override;

 private:
  /// The tables of one side.
  struct Labels {
    autograd::Parameter keys, bias;  ///< [labels, H D], [H, labels]
  };
  /// Plans of what is computed at once: of both sides, or of tokens and then of globals.
  using SidePlans = std::vector<PlanCache::Plans>;

  /// Which rows are computed at once.
  std::vector<RowSide> sides() const;
  PlanCache::Plans make_plans(const GlobalLocalStructure& structure) const;
  /// `globals`: how many global tokens each sequence has.
  Var run(const Pass& pass, const AttentionInput& input, const SidePlans& plans,
          const std::vector<Index>& globals) const;
  PatternCall call(const Pass& pass, const std::vector<HeadBlock>& blocks,
                   const Sequences& sequences, const PlanCache::Plans& plans, RowSide side) const;
  [[noreturn]] static void refuse_decoding();

  GlobalLocalSettings settings_;
  Index heads_, width_;
  Real scale_;
  Local local_;
  Labels tokens_, globals_;
  std::shared_ptr<PlanCache> cache_;
};

}  // namespace weft::layers
