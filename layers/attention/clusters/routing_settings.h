#pragma once

#include "core/fields.h"
#include "layers/attention/clusters/centroids.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/lists/attention.h"

namespace weft::layers {

struct RoutingSettings {
  std::string mode = "strict";
  std::string clusters = "sqrt";
  Index chunk = 128;
  bool shared = true;
  std::string normalise = "layernorm";
  bool unit_keys = false;
  double scale = 0;
  std::string self = "fallback";
  double count_eps = 0;
  double decay = 0.999;
  std::string update = "mean";
  std::string init = "normal";
  Index reseed_after = 0;
  double commitment = 0;

  void fields(core::Fields& field);
  AttentionTraits traits() const;

  bool paper() const { return mode == "paper"; }
  Index cluster_count(Index length) const;
  CentroidSettings centroids(Index heads, Index width, Index length) const;
  ListedForms forms() const;
  /// Of the queries' side and the keys' side, when they are different projections.
  bool reads_self() const { return !shared || self == "scored"; }
};

}  // namespace weft::layers
