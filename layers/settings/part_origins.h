#pragma once

#include <span>
#include <string_view>

namespace weft::layers {

/// What a model can be made of besides attention, and where it comes from: the setting of [model]
/// that chooses it, its formula, and the paper that introduced it.
struct PartOrigin {
  std::string_view name, setting;
  std::string_view value;  ///< of the setting; a number stands for every number above 0
  std::string_view summary, formula, paper;
};

/// From tokens to hidden vectors: the values of model.trunk, and what model.steps makes of one.
std::span<const PartOrigin> trunk_origins();

/// The values of model.feedforward.
std::span<const PartOrigin> feed_forward_origins();

}  // namespace weft::layers
