#pragma once

#include <optional>

#include "layers/attention/drawn/blocks.h"
#include "layers/attention/pattern/attention.h"

namespace weft::layers {

/// Attention over a pattern with random blocks, which are a State: what a checkpoint holds is what
/// is read, whatever was drawn at the start.
class DrawnAttention final : public Attention {
 public:
  /// `others` is the part of the pattern that all heads share.
  DrawnAttention(const AttentionSite& site, Pattern others, const DrawnBlocks::Settings& drawn,
                 const ScoreSettings& scores)
      : site_(site),
        others_(std::move(others)),
        drawn_(site, drawn, others_),
        scores_(scores),
        normaliser_(std::make_shared<Normaliser>(scores.normaliser, site.heads)) {}

  std::vector<Projection> projections() const override {
    return pattern_projections(site_.kv_heads);
  }
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    return current().forward(pass, input);
  }
  std::unique_ptr<DecodeState> begin() const override { return current().begin(); }
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    current().step(state, input, out);
  }
  Cost cost(const Sequences& sequences) const override { return current().cost(sequences); }
  void visit(autograd::Inventory& inventory) override {
    inventory.add("random_blocks", drawn_.table());
    normaliser_->visit(inventory);
  }

  const DrawnBlocks& drawn() const { return drawn_; }

 private:
  /// The attention over the table's present blocks.
  const PatternAttention& current() const;

  AttentionSite site_;
  Pattern others_;
  DrawnBlocks drawn_;
  ScoreSettings scores_;
  std::shared_ptr<Normaliser> normaliser_;
  mutable std::optional<PatternAttention> planned_;
  mutable std::vector<Real> planned_table_;
};

}  // namespace weft::layers
