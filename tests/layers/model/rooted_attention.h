#pragma once

#include "layers/model/classifier.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::roots {

inline constexpr Index vocabulary = 11, length = 9, classes = 3;
inline const std::vector<Index> real = {9, 4, 1};

inline ModelSettings classifying(Pool pool, bool star) {
  ModelSettings settings = small_settings();
  settings.task = Task::classify;
  settings.pool = pool;
  settings.head = ClassHeadKind::linear;
  settings.causal = false;
  if (star) settings.trunk = TrunkKind::star;
  return settings;
}

/// Attention of another kind that names the last real token as its root.
class LastIsRoot final : public Attention {
 public:
  explicit LastIsRoot(std::unique_ptr<Attention> inner) : inner_(std::move(inner)) {}
  std::vector<Projection> projections() const override { return inner_->projections(); }
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    return inner_->forward(pass, input);
  }
  std::unique_ptr<DecodeState> begin() const override { return inner_->begin(); }
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    inner_->step(state, input, out);
  }
  Cost cost(const Sequences& sequences) const override { return inner_->cost(sequences); }
  std::optional<Index> root_row(Index tokens) const override { return tokens - 1; }

 private:
  std::unique_ptr<Attention> inner_;
};

inline AttentionPlans rooted(const ModelSettings& settings) {
  AttentionPlans plans = default_plans(settings, length);
  for (auto& [name, groups] : plans)
    for (HeadGroupPlan& group : groups) {
      group.attention.traits.root = true;
      group.attention.make = [make = group.attention.make](const AttentionSite& site) {
        return std::make_unique<LastIsRoot>(make(site));
      };
    }
  return plans;
}

inline Reading padded_reading(std::uint64_t padding = 5) {
  std::vector<core::Token> ids;
  for (std::size_t row = 0; row < real.size(); ++row)
    for (Index t = 0; t < length; ++t) {
      const core::Rng from(t < real[row] ? 1 : padding);
      ids.push_back(core::Token(from.fold(row).below(std::uint64_t(t), vocabulary)));
    }
  Reading reading{core::Tokens({Index(real.size()), length}, ids), core::Tokens({3, 1}, {0, 2, 1})};
  reading.lengths = std::make_shared<const std::vector<Index>>(real);
  return reading;
}

}  // namespace weft::layers::roots
