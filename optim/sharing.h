#pragma once

#include "core/ranks/slice_gather.h"

namespace weft::optim {

/// How the dense parameters are shared out: by default one process has all of them.
struct Sharing {
  core::Ranks* ranks = nullptr;
  const core::Slices* slices = nullptr;
  core::SliceGather* gather = nullptr;  ///< takes new values to the others

  /// What this rank has of `size` numbers.
  std::vector<core::Stretch> owned(core::Index size) const {
    return ranks ? slices->owned(ranks->rank()) : std::vector<core::Stretch>{{0, size}};
  }
};

}  // namespace weft::optim
