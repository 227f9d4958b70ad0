#pragma once

#include <cmath>

#include "autograd/parameter.h"

namespace weft::layers {

/// Where the parameters of learned decays begin. A rate is e^a with a = ln U(low, 16); its input
/// is softplus(x + b) with b such that softplus(b) is spread evenly in logarithm over 0.001 to 0.1.
/// A low end of 0 would give a head a rate of 0, from which it never learns.
inline autograd::Init start_of_rates() {
  return autograd::Init::mapped([](double u) { return std::log(1 + 15 * u); });
}
inline autograd::Init start_of_wide_rates() {
  return autograd::Init::mapped([](double u) { return std::log(0.01 + 15.99 * u); });
}
inline autograd::Init start_of_steps() {
  return autograd::Init::mapped([](double u) {
    const double step = std::exp(std::log(1e-3) + u * std::log(100.0));
    return step + std::log(-std::expm1(-step));
  });
}

}  // namespace weft::layers
