#pragma once

#include "layers/attention/recurrence/problem.h"

namespace weft::layers {

/// The rule of RecurrenceProblem over whole sequences, chunk by chunk. With S the state before a
/// chunk, G the sum of its decays up to each token and L = e^G at its end,
///   A_ij = sum_c e_ic k_jc e^(G_ic - G_jc) for j < i, B_ij the same of q for j <= i,
///   U = (I + A)^-1 (W - (E e^G) S),  O = scale ((Q e^G) S + B U),
///   S <- L S + (K e^(G_end - G))^T U.
/// Lanes run in parallel; O(T) time and memory, all in products of one chunk.
/// out: [B T, H, D]; final: [B, H, D, D], or null
void recurrence_forward(const RecurrenceProblem& problem, const RecurrenceInputs& inputs, Heads out,
                        Real* final);

/// The gradients from that of out. Each lane runs forward once more and keeps every chunk's S and U
/// in scratch; then, from the last chunk to the first, with dS that of the state after a chunk,
///   dU = scale B^T dO + (K e^(G_end - G)) dS,  dR = (I + A)^-T dU,  dW = dR,
///   dB = scale dO U^T,  dA = -dR U^T,
///   dQ = scale (dO S^T) e^G + (dB through the pairs),  dE = -(dR S^T) e^G + (dA through them),
///   dK = (U dS^T) e^(G_end - G) + (both through them),
///   dG = Q dQ + E dE - K dK, and at the chunk's end the row sums of S dS after it,
///   dS <- L dS + scale (Q e^G)^T dO - (E e^G)^T dR.
/// No state is ever rewound: dividing by decays would lose it.
void recurrence_backward(const RecurrenceProblem& problem, const RecurrenceInputs& inputs,
                         ConstHeads dout, const RecurrenceGradients& gradients);

/// The operations of both, counted without running them; nothing but the inputs is saved.
Cost recurrence_cost(const RecurrenceProblem& problem);

}  // namespace weft::layers
