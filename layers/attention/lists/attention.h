#pragma once

#include "layers/attention/contract/head_form.h"
#include "layers/attention/lists/kernel.h"

namespace weft::layers {

/// How the blocks of `listed_attention` become queries and keys.
struct ListedForms {
  HeadForm queries, keys;
  /// Keys are made of the queries' block: blocks are q, v instead of q, k, v.
  bool keys_from_queries = false;
};

/// Attention inside lists as an op. `problem.shared_keys` follows from the forms.
Var listed_attention(ListedProblem problem, const ListedForms& forms,
                     const std::vector<HeadBlock>& blocks);

/// Bytes that the op keeps for the backward pass, inputs not counted.
Index listed_saved_bytes(const ListedProblem& problem);

}  // namespace weft::layers
