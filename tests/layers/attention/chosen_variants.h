#pragma once

#include <vector>

#include "tests/layers/attention/attention_variant.h"

namespace weft::layers {

/// That choose blocks or tokens.
inline std::vector<AttentionVariant> chosen_variants() {
  return {
      {"moba_small", "moba", {{"block", core::Index(5)}, {"blocks", core::Index(3)}}},
      {"moba_shared",
       "moba",
       {{"block", core::Index(16)}, {"blocks", core::Index(2)}, {"kv_heads", core::Index(1)}}},
      {"moba_own_block", "moba", {{"block", core::Index(7)}, {"blocks", core::Index(1)}}},
      {"nsa_small",
       "nsa",
       {{"block", core::Index(6)},
        {"stride", core::Index(4)},
        {"select_block", core::Index(5)},
        {"selected", core::Index(4)},
        {"window", core::Index(9)}}},
      {"nsa_shared",
       "nsa",
       {{"block", core::Index(8)},
        {"stride", core::Index(8)},
        {"select_block", core::Index(16)},
        {"selected", core::Index(3)},
        {"first", core::Index(0)},
        {"nearest", core::Index(1)},
        {"window", core::Index(20)},
        {"kv_heads", core::Index(1)}}},
      {"nsa_own",
       "nsa",
       {{"block", core::Index(9)},
        {"stride", core::Index(3)},
        {"select_block", core::Index(7)},
        {"selected", core::Index(2)},
        {"nearest", core::Index(0)},
        {"window", core::Index(3)},
        {"branches", "own"}}},
      {"indexed_small",
       "indexed",
       {{"selected", core::Index(7)},
        {"index_heads", core::Index(3)},
        {"index_width", core::Index(5)}}},
      {"indexed_shared",
       "indexed",
       {{"selected", core::Index(20)}, {"loss", 0.0}, {"kv_heads", core::Index(1)}}},
      {"indexed_dense",
       "indexed",
       {{"selected", core::Index(3)}, {"dense_steps", core::Index(1000)}}},
      {"compressed_small",
       "compressed",
       {{"window", core::Index(5)}, {"ratio", core::Index(3)}, {"sink", "none"}}},
      {"compressed_selected",
       "compressed",
       {{"window", core::Index(9)}, {"ratio", core::Index(4)}, {"selected", core::Index(3)}}},
      {"compressed_shared",
       "compressed",
       {{"window", core::Index(4)},
        {"ratio", core::Index(5)},
        {"selected", core::Index(2)},
        {"sink", "none"},
        {"kv_heads", core::Index(1)}}},
  };
}

}  // namespace weft::layers
