#pragma once

#include "autograd/parameter.h"
#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// The output of the heads: their rows divided by their root mean square and times a gate,
///   normalise first: y = rms(o) gain a(gate),  gate first: y = rms(o a(gate)) gain.
struct GatedNormForm {
  enum class Activation { none, silu, sigmoid };
  Activation activation = Activation::none;
  bool gate_first = false;
  Real eps = Real(1e-5);
};

/// Rows are as wide as the gain: a gain of D columns normalises each head by itself, one of H D all
/// heads together.  o: [N, H D], gate: [N, H D] or empty, gain: [D] or [H D] -> [N, H D]
Var gated_norm(const GatedNormForm& form, const Var& o, const Var& gate,
               const autograd::Parameter& gain);

/// The gate alone: y = o a(gate).  o, gate: [N, H D] -> [N, H D]
Var gate_heads(GatedNormForm::Activation activation, const Var& o, const Var& gate);

}  // namespace weft::layers
