#pragma once

#include <string_view>

namespace weft::experiments {

/// A program in Python that reads an exported model and computes its logits with numpy alone, for
/// models without anything `beyond_dense`. It is written together with such an export.
extern const std::string_view numpy_reader;

}  // namespace weft::experiments
