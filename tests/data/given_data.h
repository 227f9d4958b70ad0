#pragma once

#include <algorithm>
#include <string>

#include "data/settings.h"
#include "tests/layers/given_fields.h"

namespace weft::data {

/// What a config with these settings in [data] gives.
struct GivenData {
  explicit GivenData(tests::Settings given) : fields(std::move(given)) { settings.fields(fields); }

  bool lists(const std::string& key) const {
    return std::ranges::find(fields.visited(), key) != fields.visited().end();
  }
  /// The keys that something is wrong with.
  std::vector<std::string> problems() const {
    std::vector<std::string> keys;
    for (const auto& [key, message] : fields.problems()) keys.push_back(key);
    return keys;
  }
  const DataTraits& traits() const { return settings.traits(); }
  std::unique_ptr<Dataset> make(Index batch, std::uint64_t seed) const {
    return settings.plan.make(batch, seed);
  }

  tests::GivenFields fields;
  DataSettings settings;
};

using Keys = std::vector<std::string>;
using std::string;

}  // namespace weft::data
