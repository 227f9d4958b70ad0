#pragma once

#include <string>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

/// section.key=value arguments that make one variant of a config.
using Variant = std::vector<std::string>;

/// "a,b,c" -> a, b, c; empty parts are left out.
std::vector<std::string> split_at_commas(const std::string& text);

/// Every combination of the values of texts like "model.attention=dense,local" and
/// "data.length=1k,4k"; one empty variant when there are none.
std::vector<Variant> variants_of(const std::vector<std::string>& varied);

/// "attention=local length=4096"; "as it is" for an empty variant.
std::string name_of(const Variant& variant);

}  // namespace weft::experiments
