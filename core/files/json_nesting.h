#pragma once

#include <string_view>

namespace weft::core {

/// Whether a JSON text nests deeper than anything that weft writes. To be asked before it is
/// parsed: what then works on the values recurses. One pass, no memory.
bool nests_too_deep(std::string_view json);

}  // namespace weft::core
