#pragma once

#include "layers/settings/attention_plans.h"

namespace weft::layers {

/// Reports every attention of a seq2seq model that cannot do what its place asks for: reading both
/// directions in the encoder, one direction in the decoder, another sequence between them, and
/// leaving padding out.
void check_seq2seq(core::Fields& model, const ModelSettings& settings, const AttentionPlans& plans);

}  // namespace weft::layers
