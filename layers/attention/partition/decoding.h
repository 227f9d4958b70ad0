#pragma once

#include "layers/attention/contract/attention.h"
#include "layers/attention/partition/graph.h"

namespace weft::layers {

/// The keys and values of all nodes so far, level by level: twice as many as tokens at most.
class NodeStore final : public CopiedState<NodeStore> {
 public:
  NodeStore(const EdgeLabels& labels, Index heads, Index head_width, Real scale)
      : labels_(labels), heads_(heads), head_width_(head_width), scale_(scale) {}

  Index bytes() const override;
  /// Appends a node and reads what it reads, of a token the nodes before it.
  /// table: [labels, D], out: [H D]
  void step(const StepInput& input, const Real* table, std::span<Real> out);

 private:
  struct Level {
    std::vector<Real> keys, values;  ///< [nodes, H D]
  };
  /// Consecutive nodes of a level, whose labels are first, first + step, ...
  struct Edges {
    Index level, begin, end;
    std::int32_t first, step;
  };
  std::vector<Edges> edges_of(Index level, Index x) const;
  void attend(Index head, const std::vector<Edges>& edges, std::span<const Real> q,
              const Real* table, std::span<Real> out);

  EdgeLabels labels_;
  Index heads_, head_width_;
  Real scale_;
  std::vector<Level> levels_;
  std::vector<Real> weights_;
};

}  // namespace weft::layers
