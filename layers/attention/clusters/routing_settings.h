#pragma once

#include "core/fields.h"
#include "layers/attention/clusters/centroids.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/lists/attention.h"

namespace weft::layers {

struct RoutingSettings {
  enum class Mode { strict, paper };
  enum class Normalise { layernorm, l2 };
  enum class Self { fallback, scored };
  enum class Update { mean, sum };

  Mode mode = Mode::strict;
  std::string clusters = "sqrt";
  Index chunk = 128;
  bool shared = true;
  Normalise normalise = Normalise::layernorm;
  bool unit_keys = false;
  double scale = 0;
  Self self = Self::fallback;
  double count_eps = 0;
  double decay = 0.999;
  Update update = Update::mean;
  CentroidSettings::Start init = CentroidSettings::Start::normal;
  Index reseed_after = 0;
  double commitment = 0;

  void fields(core::Fields& field);
  AttentionTraits traits() const;

  bool paper() const { return mode == Mode::paper; }
  Index cluster_count(Index length) const;
  CentroidSettings centroids(Index heads, Index width, Index length) const;
  ListedForms forms() const;
  /// Of the queries' side and the keys' side, when they are different projections.
  bool reads_self() const { return !shared || self == Self::scored; }
};

}  // namespace weft::layers
