#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/layers/attention/naive_index.h"
#include "tests/layers/attention/naive_nsa.h"

namespace weft::layers {

/// The naive twins of mechanisms that choose, by their names in the contract.
inline const auto& chosen_oracles() {
  using Twin = std::function<std::vector<double>(const AttentionSample&,
                                                 const std::vector<std::vector<double>>&)>;
  static const std::map<std::string, Twin> oracles = {
      {"moba", moba_oracle(64, 4)},
      {"moba_small", moba_oracle(5, 3)},
      {"moba_shared", moba_oracle(16, 2)},
      {"moba_own_block", moba_oracle(7, 1)},
      {"nsa", nsa_oracle({})},
      {"nsa_small", nsa_oracle({.block = 6,
                                .stride = 4,
                                .select_block = 5,
                                .selected = 4,
                                .first = 1,
                                .nearest = 2,
                                .window = 9})},
      {"nsa_shared", nsa_oracle({.block = 8,
                                 .stride = 8,
                                 .select_block = 16,
                                 .selected = 3,
                                 .first = 0,
                                 .nearest = 1,
                                 .window = 20})},
      {"nsa_own", nsa_oracle({.block = 9,
                              .stride = 3,
                              .select_block = 7,
                              .selected = 2,
                              .first = 1,
                              .nearest = 0,
                              .window = 3,
                              .fine = 3,
                              .near = 5})},
      {"indexed", indexed_oracle(256)},
      {"indexed_small", indexed_oracle(7)},
      {"indexed_shared", indexed_oracle(20)},
      {"indexed_dense", indexed_oracle(1000)},
      {"compressed", compressed_oracle(128, 16, 0, true)},
      {"compressed_small", compressed_oracle(5, 3, 0, false)},
      {"compressed_selected", compressed_oracle(9, 4, 3, true)},
      {"compressed_shared", compressed_oracle(4, 5, 2, false)}};
  return oracles;
}

}  // namespace weft::layers
