#pragma once

#include <cstdint>

#include "layers/attention/head_form.h"

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

  double loss() const;
  /// `out` unchanged. Its gradient passes through, and the tokens get that of share * loss: a
  /// penalty inside a layer that may be run again is counted where the layer is swept.
  Var add_to(const Var& out, Real share) const;

 private:
  template <class Body>
  void for_each(const Committed& part, const Body& body) const;
  /// Numbers that the mean runs over.
  double count() const;
};

}  // namespace weft::layers
