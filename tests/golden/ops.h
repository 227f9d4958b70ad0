#pragma once

#include <string_view>

#include "tests/golden/case.h"

namespace weft::golden {

/// Computes a case's op with weft and compares all that the file holds.
using Replay = void (*)(Case&);

/// Null for an op that the runner does not know.
Replay find_op(std::string_view name);

}  // namespace weft::golden
