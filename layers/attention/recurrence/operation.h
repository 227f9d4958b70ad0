#pragma once

#include "layers/attention/recurrence/problem.h"

namespace weft::layers {

/// What the recurrence reads; a gate's variable is empty where the problem has no such gate.
/// q, k: blocks of G D columns, v of H D; decay: [H], [B T, H] or [B T, H D] by its form, write and
/// erase: [B T, H] or [B T, H D]; initial: [B, H, D, D] or empty for zeros
struct RecurrenceVars {
  HeadBlock q, k, v;
  Var decay, write, erase, initial;
};

/// The rule of `problem` on the tape -> [B T, H D]. `final`, where given, receives the states after
/// the last token, [B, H, D, D], without gradient.
Var recur(const RecurrenceProblem& problem, const RecurrenceVars& vars, Tensor* final = nullptr);

}  // namespace weft::layers
