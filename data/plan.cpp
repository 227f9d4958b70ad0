#include "data/plan.h"

#include <algorithm>

#include "core/error.h"

namespace weft::data {

Spelling Meaning::spelling_for(Spelling own) const {
  if (!spelling || !spelling->alphabet() || !own.alphabet()) return own;
  const bool has_all = std::ranges::all_of(own.alphabet()->characters(), [&](char32_t c) {
    return spelling->alphabet()->find(c).has_value();
  });
  return has_all ? *spelling : own;
}

std::vector<std::string> Meaning::classes_for(std::vector<std::string> own) const {
  const bool has_all = std::ranges::all_of(own, [&](const std::string& name) {
    return std::ranges::find(classes, name) != classes.end();
  });
  return has_all ? classes : own;
}

std::unique_ptr<Dataset> DataPlan::make(Index batch, std::uint64_t seed,
                                        const Meaning& known) const {
  core::require(bool(maker), "data: the settings have not been read; call fields() first");
  core::require(batch >= 1, "data: a batch needs at least one sequence, got ", batch);
  return maker_for ? maker_for(batch, seed, known) : maker(batch, seed);
}

}  // namespace weft::data
