#pragma once

#include <string>

#include "layers/attention/pattern/atom.h"

namespace weft::golden {

/// The pattern of a list of atoms in JSON, as cases give it.
layers::Pattern pattern_of(const std::string& atoms);

}  // namespace weft::golden
