#pragma once

#include <functional>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/pass.h"
#include "autograd/tape.h"
#include "core/tokens.h"

/// The differentiable ops, one file each under ops/. Parameter gradients are added to the
/// parameter's own array inside the pullback; gradients of variables are returned to the tape. An
/// op whose variables are all constants records nothing, so its parameters learn nothing from it:
/// watch one of them, or start from `embedding` or `use`, which record on the pass's tape.
namespace weft::autograd {

/// x: [..., in], weight: [out, in], bias: [out] or null -> [..., out]
Var linear(const Var& x, const Parameter& weight, const Parameter* bias = nullptr);
/// residual + linear(x), in one pass over the output.  residual: [..., out]
Var linear_onto(const Var& residual, const Var& x, const Parameter& weight,
                const Parameter* bias = nullptr);
/// x: [..., n] -> [..., n] with y = gelu(x + bias), exact.  bias: [n]
Var bias_gelu(const Var& x, const Parameter& bias);
/// x: [..., n], gain and bias: [n] -> [..., n]
Var layer_norm(const Var& x, const Parameter& gain, const Parameter& bias, Real eps);
/// tokens: [...], table: [V, n] -> [..., n]
Var embedding(const Pass& pass, const core::Tokens& tokens, const Parameter& table);
/// x: [B * T, n], table: [most, n] -> x with row `first + t` of the table added to token t.
Var add_positions(const Var& x, const Parameter& table, Index length, Index first = 0);
/// The same with a fixed table.
Var add_positions(const Var& x, const Tensor& table, Index length, Index first = 0);

/// Mean over the counted targets of -ln softmax(h weight^T + bias)[target], times `share`.
/// h: [N, n], weight: [V, n], bias: [V] or null, targets: [N] or [B, T] -> [1]
Var cross_entropy(const Var& h, const Parameter& weight, const Parameter* bias,
                  const core::Tokens& targets, Real share = 1);

/// a: [m, k] or its transpose, b: [k, n] or its transpose -> [m, n]
Var matmul(const Var& a, const Var& b, bool transpose_a = false, bool transpose_b = false);
/// Same shapes.
Var add(const Var& x, const Var& y);
Var scale(const Var& x, Real factor);
Var relu(const Var& x);
/// Zeroes each element with probability `rate` and scales the rest by 1 / (1 - rate); in
/// evaluation, or with rate 0, the identity.
Var dropout(const Pass& pass, const Var& x, Real rate);

Var reshape(const Var& x, Shape shape);
/// Along the last axis, all other extents equal.
Var concat(const std::vector<Var>& parts);
/// Columns [first, first + count) of the last axis.
Var slice(const Var& x, Index first, Index count);
/// Over all elements -> [1]
Var sum(const Var& x);
Var mean(const Var& x);
/// y. Its sweep also minimises share * penalty, a number: for a penalty on activations inside a
/// layer that may be run again, which then counts where that layer is swept.
Var with_penalty(const Var& y, const Var& penalty, Real share);
/// A parameter as a variable, for ops that take it as an ordinary input.
Var use(const Pass& pass, const Parameter& parameter);

/// f(x), with nothing kept but x: the pullback runs f again on a private tape.
Var recompute(const Pass& pass, const std::function<Var(const Pass&, const Var&)>& f, const Var& x);

}  // namespace weft::autograd
