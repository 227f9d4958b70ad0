#pragma once

#include "core/ranks/ranks.h"
#include "data/dataset.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {

/// By all ranks: throws EndedTogether where they differ in program, settings, data or in what
/// computes, since then their sums would; it names hosts and what would make them agree.
void require_equal_ranks(core::Ranks& ranks, const RunConfig& config, const data::Dataset& dataset);

/// Threads of this rank where the config leaves them open: its share of the processors that the
/// ranks of its machine can use together, or those it is bound to.
Index threads_of_rank(core::Ranks& ranks, Index configured);

/// A warning where the launcher binds ranks to fewer processors than they have threads, or, where
/// the config leaves these open, than are there for each rank; empty where it does not.
std::string warn_of_binding(core::Ranks& ranks, Index configured);

}  // namespace weft::experiments
