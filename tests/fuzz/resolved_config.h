#pragma once

#include "core/error.h"
#include "experiments/run/run_config.h"
#include "tests/fuzz/fuzzers.h"

namespace weft::fuzz {

/// What `weft config` prints of a config that was taken must be a config of the same run.
inline void use_config(const experiments::RunConfig& config) {
  config.resolved.listing();
  try {
    const auto again = experiments::RunConfig::from_text(config.toml(), "resolved");
    demand(again.identity() == config.identity(), "the resolved config names another run");
  } catch (const core::Error& error) {
    demand(false, error.what());
  }
}

}  // namespace weft::fuzz
