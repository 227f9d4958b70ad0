#pragma once

#include "layers/attention/attention.h"

namespace weft::layers {

/// Throws unless the input holds what the mechanism declares: a block of `columns` columns for each
/// projection inside its matrix, matrices as long as their side's sequences, and key lengths, if
/// any, one for each sequence and no longer than its keys.
void check_input(std::string_view kind, const Attention& attention, const AttentionInput& input,
                 Index columns);

}  // namespace weft::layers
