#pragma once

#include "autograd/journal.h"
#include "core/rng.h"

namespace weft::autograd {

/// Which of the shards of a step's batch a pass belongs to. The journal keeps it with the decisions
/// of a micro-batch, so it is set before each; 0 where it was not.
inline void set_shard(Journal& journal, core::Index shard) {
  journal.store(core::Rng(0).fold("shard").key(), shard);
}
inline core::Index shard_of(const Journal& journal) {
  const std::any* shard = journal.find(core::Rng(0).fold("shard").key());
  return shard ? std::any_cast<core::Index>(*shard) : 0;
}

}  // namespace weft::autograd
