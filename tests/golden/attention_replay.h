#pragma once

#include <string>
#include <vector>

#include "layers/attention/attention.h"
#include "tests/golden/case.h"

namespace weft::golden {

/// The mechanism `kind` with its default settings, for the shape [B, H, T, D] of its queries.
std::unique_ptr<layers::Attention> make_attention(const std::string& kind,
                                                  const core::Shape& queries, bool causal);

/// Runs the mechanism on in/NAME of each of its projections, [B, H, T, D], and compares out and
/// every grad/NAME: with each projection in a matrix of its own and, where all have one length,
/// packed in one matrix.
void replay_attention(Case& golden, const layers::Attention& attention, bool causal);

}  // namespace weft::golden
