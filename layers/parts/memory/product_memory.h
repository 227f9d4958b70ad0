#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "layers/parts/linear.h"

namespace weft::layers {

/// The tables of a product-key memory: slot a C + b has the key (keys[h, 0, a], keys[h, 1, b]) in
/// head h, and one value for all heads.
struct MemoryTables {
  const Parameter& keys;    ///< [H, 2, C, half]
  const Parameter& values;  ///< [C², W], row-sparse
  Index top;                ///< slots that a head reads

  Index heads() const { return keys.shape()[0]; }
  Index side() const { return keys.shape()[2]; }  ///< C
  Index half() const { return keys.shape()[3]; }
  Index slots() const { return values.shape()[0]; }
  Index width() const { return values.shape()[1]; }
};

/// The slots that each row reads: [N, H, top], best first.
using Slots = std::vector<std::int32_t>;

/// The slots with the `top` largest scores q1 . key1 + q2 . key2 of all C², exactly, of equals the
/// lower. Only the `top` best of either half can take part, and of those, ranked from 1, only pairs
/// whose ranks multiply to at most `top`.  queries: [N, H 2 half]
Slots search_slots(const Tensor& queries, const MemoryTables& tables);

/// The sum over heads and slots of softmax(scores of the head's slots) values[slot].
/// queries: [N, H 2 half] -> [N, W]
Var product_memory(const Var& queries, const std::shared_ptr<const Slots>& slots,
                   const MemoryTables& tables);

}  // namespace weft::layers
