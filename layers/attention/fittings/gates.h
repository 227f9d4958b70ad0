#pragma once

#include "autograd/parameter.h"
#include "layers/attention/contract/attention.h"

/// What turns numbers made from the layer's input into gates of its heads.
namespace weft::layers {

/// y = factor / (1 + e^-x), element by element
Var logistic(const Var& x, Real factor = 1);
/// y = ln(1 + e^x), element by element
Var softplus(const Var& x);
/// y = max(ln(logistic(x)) / divisor, floor), element by element
Var log_logistic(const Var& x, Real divisor, Real floor);
/// y = sign e^a x with one a for each head.  x: [N, H c], log_scale: [H] -> [N, H c]
Var scale_heads(const Var& x, const autograd::Parameter& log_scale, Real sign);
/// o + skip v with one skip for each head.  o: [N, H D], v: a block of H D columns, skip: [H]
Var add_skipped(const Var& o, const HeadBlock& v, const autograd::Parameter& skip);

/// o_2h - logistic(share_h) o_(2h + 1).  o: [N, 2 H D], share: [N, H] -> [N, H D]
Var subtract_gated(const Var& o, const Var& share);

/// The sum over i of logistic(gate_i)_h x_i, of head h of several results.
/// x: each [N, H D], gates: one for each, [N, H] -> [N, H D]
Var sum_gated(const std::vector<Var>& x, const std::vector<Var>& gates);

}  // namespace weft::layers
