#include "layers/attention/pattern/global_tokens.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {

void read_global_positions(core::Fields& field, std::vector<Index>& positions,
                           const AttentionSite& site) {
  field.integers("positions", positions, "positions of the global tokens, from 0",
                 core::at_least(0));
  if (positions.empty()) return;
  const Index last = std::ranges::max(positions);
  if (last >= site.length)
    field.problem("positions", core::message_of("position ", last, " lies past the length of ",
                                                site.length, " tokens (positions count from 0)"));
}

GlobalMode global_mode(const std::string& name) {
  core::require(name == "both" || name == "columns" || name == "rows",
                "global tokens: there is no mode '", name, "', only both, columns and rows");
  return name == "both"      ? GlobalMode::both
         : name == "columns" ? GlobalMode::columns
                             : GlobalMode::rows;
}

}  // namespace weft::layers
