#pragma once

#include <algorithm>

#include "core/arrays/gemm.h"
#include "layers/attention/contract/heads.h"
#include "layers/attention/contract/lane.h"

namespace weft::layers {

/// How a gate is given: not at all, one number for each head, for each token of a head, or for each
/// of its columns.
enum class GateForm { none, head, token, column };

/// The sizes and the rule of one call. Every head of a sequence has a state S [D keys, D values];
/// at each token, with decay g <= 0, e = erase k and w = write v,
///   S~ = diag(e^g) S,  u = w - S~^T e,  S = S~ + k u^T,  out = scale S^T q.
/// Without the gate of erasing e = 0, without that of writing w = v, without decay g = 0.
struct RecurrenceProblem {
  Sequences sequences = {};
  Index heads = 1;
  Index key_heads = 1;  ///< of queries and keys; head h reads head h key_heads / heads of them
  Index width = 1;      ///< D
  Real scale = 1;
  GateForm decay = GateForm::none;
  GateForm write = GateForm::none;
  GateForm erase = GateForm::none;
  bool unit = false;  ///< queries and keys are divided by their lengths first
  Index chunk = 64;   ///< tokens taken together

  Index length() const { return sequences.queries; }
  Index lanes() const { return sequences.batch * heads; }
  HeadLane lane(Index index) const { return {sequences, heads, key_heads, width, index}; }
  Index chunks() const { return (length() + chunk - 1) / chunk; }
  bool erases() const { return erase != GateForm::none; }
  /// Rows of the largest chunk.
  Index rows() const { return std::min(chunk, length()); }
  /// Groups of rows that read the state: queries, and what is erased.
  Index groups() const { return erases() ? 2 : 1; }
};

/// Where gates are: that of a token and head at data + token * stride + head * columns, with one
/// column or D of them; a stride of 0 for one that all tokens share.
struct ConstGates {
  const Real* data = nullptr;
  Index stride = 0;
};
struct Gates {
  Real* data = nullptr;
  Index stride = 0;
};

/// q, k: [B T, G, D], v: [B T, H, D]; initial: [B, H, D, D], or null for zeros
struct RecurrenceInputs {
  ConstHeads q, k, v;
  ConstGates decay, write, erase;
  const Real* initial = nullptr;
};

/// Null means not needed. Queries and keys get the gradient of every head of values, so that
/// no two lanes write to one place.  q, k, v: [B T, H, D]
struct RecurrenceGradients {
  Heads q, k, v;
  Gates decay, write, erase;
  Real* initial = nullptr;
};

/// Tokens [first, first + rows) of a lane.
struct TokenSpan {
  TokenSpan(const RecurrenceProblem& p, const HeadLane& lane, Index chunk)
      : first(chunk * p.chunk),
        rows(std::min(p.chunk, p.length() - first)),
        real(std::clamp<Index>(lane.real_keys - first, 0, rows)),
        token(lane.batch * p.length() + first) {}
  Index first, rows;
  Index real;   ///< how many of them are not padding
  Index token;  ///< the first, among those of all sequences
};

}  // namespace weft::layers
