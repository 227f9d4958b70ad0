#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/arrays/tensor.h"
#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// How a row's gates follow from the router's probabilities P of the experts that it chose.
struct GateRule {
  bool normalise = false;  ///< P / (their sum + eps) rather than P itself
  double eps = 1e-9;
};

/// How rows choose experts and experts take rows.
struct ChoiceRule {
  Index choices = 1;
  Index capacity = 0;           ///< rows that an expert takes at most; 0: any number
  double second_threshold = 0;  ///< a second choice is kept if its draw < gate / this; 0: always
  GateRule gate = {};
};

/// Which experts each row chose, and where its copies are when rows are sorted by expert. An
/// expert's rows fill whole panels, the last one up with filler, so that a product of one shape
/// computes every row: its bits then depend on nothing but the row and its place.
struct ExpertChoice {
  Index choices = 1, panel = 1;
  std::vector<std::int32_t> expert;  ///< [N, choices], best first; -1 in padding
  std::vector<Index> place;          ///< [N, choices], among the places; -1: nobody took it
  std::vector<Index> source;         ///< [places]: row * choices + choice; -1: filler
  std::vector<Index> begin;          ///< [E + 1]: the first place of each expert
  std::vector<Index> taken;          ///< [E]: rows of each expert
  std::vector<Index> first;          ///< [E]: rows whose first choice it was, taken or not
  Index rows = 0;                    ///< real ones
  Index lost = 0;                    ///< choices that were kept but found the expert full

  Index experts() const { return Index(taken.size()); }
  Index places() const { return begin.back(); }
  /// The expert whose rows are in a panel.
  Index expert_of_panel(Index number) const;
};

/// The real rows of a call in the order in which experts take them: by position, then by sequence,
/// so that a row finds what earlier tokens left.  -> row numbers
std::vector<Index> rows_in_order(const Sequences& sequences);

/// Each row takes the experts with its largest probabilities, of equals the lower number. All first
/// choices are placed in the given order, then all second ones, and so on; what a full expert does
/// not take is lost.  probabilities: [N, E], order: real rows, draws: [N] in [0, 1) or empty
ExpertChoice choose_experts(const Tensor& probabilities, const ChoiceRule& rule,
                            const std::vector<Index>& order, std::span<const double> draws = {});

}  // namespace weft::layers
