#pragma once

#include <cstdint>

#include "layers/attention/contract/head_form.h"

namespace weft::layers {

/// The tokens of one projection and the centres that they joined.
struct Committed {
  HeadBlock block;
  std::shared_ptr<const std::vector<std::uint16_t>> clusters;  ///< [B, H, T]
};

/// weight * mean of (token - its centre)² over all real tokens in the given form.
struct Commitment {
  double weight = 0;
  HeadForm form;
  Tensor centres;  ///< [H, K, D]
  Sequences sequences;
  std::vector<Committed> parts;

  void add(const HeadBlock& block, std::shared_ptr<const std::vector<std::uint16_t>> clusters) {
    Committed& part = parts.emplace_back();
    part.block = block;
    part.clusters = std::move(clusters);
  }
  /// -> [1]
  Var loss() const;

 private:
  template <class Body>
  void for_each(const Committed& part, const Body& body) const;
  /// Numbers that the mean runs over.
  double count() const;
};

}  // namespace weft::layers
