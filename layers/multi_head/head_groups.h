#pragma once

#include <vector>

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// What the mechanisms of a layer's head groups charge together; an empty Var for nothing.
template <class Group>
Var group_penalty(const Pass& pass, const std::vector<Group>& groups) {
  Var total;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Var own = groups[g].attention->penalty(pass.at(g));
    if (own.value().size() == 0) continue;
    total = total.value().size() == 0 ? own : autograd::add(total, own);
  }
  return total;
}

}  // namespace weft::layers
