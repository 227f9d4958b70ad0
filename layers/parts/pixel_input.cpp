#include "layers/parts/pixel_input.h"

namespace weft::layers {

Var PixelNumber::add(const Var& x, const core::Tokens& tokens) const {
  Tensor numbers({tokens.size()}, 0);
  const std::span<Real> to = numbers.write();
  for (std::size_t i = 0; i < to.size(); ++i)
    if (const core::Token v = tokens.read()[i]; v < levels_)
      to[i] = Real(2) * Real(v) / Real(levels_ - 1) - 1;
  return autograd::add_multiples(x, weight_, numbers);
}

}  // namespace weft::layers
