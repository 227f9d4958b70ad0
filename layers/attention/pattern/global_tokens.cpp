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

void read_global_mode(core::Fields& field, GlobalMode& mode) {
  field.choice(
      "mode", mode, "global tokens are read (columns), read all (rows), or both",
      {{"both", GlobalMode::both}, {"columns", GlobalMode::columns}, {"rows", GlobalMode::rows}});
}

}  // namespace weft::layers
