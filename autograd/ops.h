#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/pass.h"
#include "autograd/replay.h"
#include "autograd/tape.h"
#include "core/arrays/tokens.h"

/// The differentiable ops, one file each under ops/. Parameter gradients are added to the
/// parameter's own array inside the pullback; gradients of variables are returned to the tape. An
/// op whose variables are all constants records nothing, so its parameters learn nothing from it:
/// watch one of them, or start from `embedding` or `as_variable`, which record on the pass's tape.
namespace weft::autograd {

/// x: [..., in], weight: [out, in], bias: [out] or null -> [..., out]
Var linear(const Var& x, const Parameter& weight, const Parameter* bias = nullptr);
/// residual + linear(x), in one pass over the output.  residual: [..., out]
Var linear_onto(const Var& residual, const Var& x, const Parameter& weight,
                const Parameter* bias = nullptr);
/// Rows [first, first + count) of the layer applied to a constant, from which only the parameters
/// learn.  x: [N, in] -> [N, count]
Var linear_part(const Pass& pass, const Tensor& x, const Parameter& weight, const Parameter& bias,
                Index first, Index count);
/// x: [..., n] -> [..., n] with y = gelu(x + bias), exact.  bias: [n]
Var bias_gelu(const Var& x, const Parameter& bias);
/// x: [..., n], gain and bias: [n] -> [..., n]
Var layer_norm(const Var& x, const Parameter& gain, const Parameter& bias, Real eps);
/// x: [..., n], gain: [n] -> [..., n], the rows divided by their root mean square
Var rms_norm(const Var& x, const Parameter& gain, Real eps);
/// Mean and biased variance of each column over all rows.  x: [..., n] -> [2, n]
Tensor column_moments(const Tensor& x);
/// x: [..., n], each column normalised over all rows; moments = column_moments(x) -> [..., n]
Var batch_norm(const Var& x, const Parameter& gain, const Parameter& bias, Real eps,
               const Tensor& moments);
/// The same with moments that come from elsewhere and are constants.
Var frozen_norm(const Var& x, const Parameter& gain, const Parameter& bias, Real eps,
                const Tensor& moments);
/// tokens: [...], table: [V, n] -> [..., n]
Var embedding(const Pass& pass, const core::Tokens& tokens, const Parameter& table);
/// x: [B * T, n], table: [most, n] -> x with row `first + t` of the table added to token t.
Var add_positions(const Var& x, const Parameter& table, Index length, Index first = 0);
/// The same with a fixed table.
Var add_positions(const Var& x, const Tensor& table, Index length, Index first = 0);
/// x: [B * T, d1 + d2], first: [n1, d1], second: [n2, d2] -> x with row p / n2 of the first table
/// next to row p % n2 of the second, added to the token at p = start + t.
Var add_axial_positions(const Var& x, const Parameter& first, const Parameter& second, Index length,
                        Index start = 0);
/// x: [N, n], table: [most, n], ids: N -> x with row ids[i] of the table added to row i; nothing
/// where the id is no_target.
Var add_rows(const Var& x, const Parameter& table, const core::Tokens& ids);
/// x: [N, n], row: [n], factors: [N] -> x with factors[i] times `row` added to row i.
Var add_multiples(const Var& x, const Parameter& row, const Tensor& factors);

/// -ln of the probability of values 0 .. levels - 1 under a mixture of K logistics that is rounded
/// to them; 0 where nothing is scored.
/// theta: [N, 3 K], logits, means in -1 .. 1 and logarithms of scales, values: N -> [N]
Var logistic_mixture(const Var& theta, const core::Tokens& values, Index levels,
                     Real least_log_scale);

/// Mean over the counted targets of -ln softmax(h weight^T + bias)[target], times `share`.
/// h: [N, n], weight: [V, n], bias: [V] or null, targets: [N] or [B, T] -> [1]
/// Logits exist for `rows` tokens at a time; 0 stands for about a million logits.
Var cross_entropy(const Var& h, const Parameter& weight, const Parameter* bias,
                  const core::Tokens& targets, Real share = 1, Index rows = 0);

/// The same with a table that is a variable.  table: [V, n]
Var table_cross_entropy(const Var& h, const Var& table, const core::Tokens& targets, Real share = 1,
                        Index rows = 0);

/// How well spans are found: for each sequence -ln of the sum, over its listed answers, of
/// p(start) p(end), where both softmaxes run over position 0 and the document's positions only. 0
/// where no answer is listed. Answer (0, 0) means that there is none in the document.
/// logits: [B * T, 2] of starts and of ends, documents: [B, 2] first and last position, answers:
/// [B, A, 2], no_target where there are fewer -> [B]
Var span_nats(const Var& logits, const core::Tokens& documents, const core::Tokens& answers);

/// a: [m, k] or its transpose, b: [k, n] or its transpose -> [m, n]
Var matmul(const Var& a, const Var& b, bool transpose_a = false, bool transpose_b = false);
/// Same shapes.
Var add(const Var& x, const Var& y);
Var scale(const Var& x, Real factor);
Var relu(const Var& x);
/// x where it is above zero, else slope * x.
Var leaky_relu(const Var& x, Real slope);
/// Over the last axis.
Var softmax(const Var& x);
/// Every row of a times every row of b, element by element.  a: [s, n], b: [m, n] -> [s m, n]
Var row_products(const Var& a, const Var& b);

/// The live unit of each block of each row: [rows, n / block]
using LiveUnits = std::vector<std::uint8_t>;
/// relu(h gate), or relu(h) gate with the gate outside, where the gate is the softmax of the logits
/// over each block of columns. With `live`, 1 for the live unit of a block and 0 for the others
/// takes the place of the softmax in the value; the gradient is that of the softmax.
/// h and logits: [..., n] -> [..., n]
Var block_gate(const Var& h, const Var& logits, Index block,
               const std::shared_ptr<const LiveUnits>& live, bool inside);

/// Tokens as a plane of length x modules, convolved over the tokens t - F + 1 .. t of their own
/// sequence and the modules s - C / 2 .. s + C / 2, zeros outside.
/// x: [B * length, S M], weight: [F, C, M, M] (in, out), bias: [M] or null -> [B * length, S M]
Var module_convolution(const Var& x, const Parameter& weight, const Parameter* bias, Index length);

/// Zeroes each element with probability `rate` and scales the rest by 1 / (1 - rate); in
/// evaluation, or with rate 0, the identity.
Var dropout(const Pass& pass, const Var& x, Real rate);
/// Multiplies each element by a number drawn evenly from [1 - amount, 1 + amount); in evaluation,
/// or with amount 0, the identity.
Var jitter(const Pass& pass, const Var& x, double amount);

Var reshape(const Var& x, Shape shape);
/// Along the last axis, all other extents equal.
Var concat(const std::vector<Var>& parts);
/// Columns [first, first + count) of the last axis.
Var slice(const Var& x, Index first, Index count);
/// Columns [first, first + c) of x, in every sequence after its earlier rows.
/// earlier: [B * M, c], x: [B * T, n] -> [B * (M + T), c]
Var append_rows(const Var& earlier, const Var& x, Index batch, Index first);
/// The mean of the first counts[b] rows of each sequence b.  x: [B * T, n] -> [B, n]
Var mean_rows(const Var& x, const std::vector<Index>& counts);
/// The largest number of each column among the first counts[b] rows of each sequence b.
/// x: [B * T, n] -> [B, n]
Var max_rows(const Var& x, const std::vector<Index>& counts);
/// Each row times its weight.  x: [N, n], weights: [N, 1] -> [N, n]
Var weigh_rows(const Var& x, const Var& weights);
using RowNumbers = std::shared_ptr<const std::vector<Index>>;
/// The rows of these numbers, which ascend.  x: [N, n] -> [rows, n]
Var gather_rows(const Var& x, const RowNumbers& rows);
/// Each row of x at its number among `all` rows, zeros elsewhere.  x: [rows, n] -> [all, n]
Var scatter_rows(const Var& x, const RowNumbers& rows, Index all);
/// Over all elements -> [1]
Var sum(const Var& x);
Var mean(const Var& x);
/// A parameter as a variable, for ops that take it as an ordinary input.
Var as_variable(const Pass& pass, const Parameter& parameter);
/// Its first `rows` rows.  parameter: [n, ...] -> [rows, ...]
Var rows_as_variable(const Pass& pass, const Parameter& parameter, Index rows);

/// x itself, where `penalty` ([1]) is charged to the loss: for penalties on activations, which
/// count once also inside a part that is run again. Nothing is charged in evaluation.
Var penalise(const Pass& pass, const Var& x, const Var& penalty);
/// The sum of all that the pass charged so far, to be added to the loss; an empty Var for nothing.
/// -> [1]
Var penalties(const Pass& pass);

/// f(x), with nothing kept but x: the pullback runs f again on a private tape.
Var recompute(const Pass& pass, const Sublayer& f, const Var& x);

/// f over pieces of at most `rows` rows of x, each computed again in the sweep: what f keeps inside
/// exists for one piece at a time.
Var by_pieces(const Pass& pass, const Sublayer& f, const Var& x, Index rows);

/// How the two streams of a reversible stack are combined.
enum class StreamOutput { average, concat };
/// Branches that add to two streams in turn, first += f0(second), second += f1(first),
/// first += f2(second) and so on, with nothing kept but how the streams end. Each branch returns
/// what it is given in shape.
/// first, second: [..., n], where the streams begin -> [..., n], or [..., 2 n] side by side
Var reversible(const Pass& pass, std::vector<Sublayer> branches, const Var& first,
               const Var& second, StreamOutput output);

/// Each sequence of y directly after the real rows of its sequence in x; zeros fill the end.
/// x: [B * S, n], y: [B * T, n] -> [B * (S + T), n]
Var join_rows(const Var& x, const Var& y, const core::Lengths& lengths);
/// The `count` rows of each sequence after its first lengths[b].  z: [B * S, n] -> [B * count, n]
Var rows_behind(const Var& z, const core::Lengths& lengths, Index count);
/// A recurrence without matrices along each sequence: gates say what a token adds to the running
/// average c, how much of c stays, and how much of the output is c rather than x.
/// gates: [B * length, 3 n], x: [B * length, n] -> [B * length, n]
Var simple_recurrence(const Var& gates, const Var& x, Index length);
/// One token of it in evaluation, where c goes on from the tokens before.
/// gates: [3 n], x, c and y: [n]
void step_recurrence(std::span<const Real> gates, std::span<const Real> x, std::span<Real> c,
                     std::span<Real> y);

}  // namespace weft::autograd
