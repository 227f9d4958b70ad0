#pragma once

#include <map>

#include "layers/attention/contract/key_labels.h"
#include "layers/attention/global_local/structure.h"
#include "layers/attention/pattern/plan.h"

namespace weft::layers {

/// Which rows attention is computed for.
enum class RowSide { both, tokens, globals };

/// Global-local attention as a pattern over rows. Tokens read each other as `local` says, whose
/// atoms know the long input only; everything else is by the rules. Global rows have the labels
/// after those of tokens if both are computed.
class GlobalLocalGraph final : public Atom, public KeyLabels {
 public:
  GlobalLocalGraph(GlobalLocalStructure structure, const GlobalLocalRules& rules, Pattern local,
                   RowSide side);

  void readable(Index query, Index places, std::vector<Interval>& out) const override;
  Index last_reader(Index) const override { return never; }
  void of(Index query, std::vector<LabelRun>& out) const override;

 private:
  using Runs = std::vector<Interval>;
  /// The rows of one example.
  struct Members {
    Runs globals, tokens;
  };

  bool is_global(Index row) const { return row < structure_.globals; }
  Index example_of(Index row) const {
    return structure_.example.empty() ? 1 : structure_.example[std::size_t(row)];
  }
  void label_globals(Index query, std::vector<LabelRun>& out) const;

  GlobalLocalStructure structure_;
  GlobalLocalRules rules_;
  Pattern local_;
  RowSide side_;
  std::map<Index, Members> members_;  ///< by example
  std::vector<Runs> own_;             ///< the tokens of each global token
};

/// The graph laid out for the kernel.
PatternPlan plan_global_local(const GlobalLocalStructure& structure, const GlobalLocalRules& rules,
                              const Pattern& local, RowSide side);

}  // namespace weft::layers
