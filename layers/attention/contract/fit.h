#pragma once

#include "layers/attention/contract/plan.h"

namespace weft::layers {

/// Why a mechanism of these traits cannot be used at a site; empty when it can.
std::string why_unfit(const AttentionTraits& traits, const AttentionSite& site);

/// Throws unless the input holds what the mechanism declares: a block of columns for each
/// projection inside its matrix, matrices as long as their side's sequences, and key lengths, if
/// any, one for each sequence and no longer than its keys.
void check_input(std::string_view kind, const Attention& attention, const AttentionInput& input,
                 Index heads, Index head_width);

/// Throws unless the call is causal and over one sequence, for a mechanism with no other form.
void require_causal_form(std::string_view kind, const Sequences& sequences);

}  // namespace weft::layers
