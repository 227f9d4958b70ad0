#pragma once

#include <span>
#include <string>

#include "core/arrays/shape.h"
#include "core/real.h"

namespace weft::core {

/// A view of an array under the name that files give it, such as
/// "params/layers.0.attention.qkv.weight".
struct NamedArray {
  std::string name;
  Shape shape;
  std::span<Real> values;
};

struct ConstNamedArray {
  std::string name;
  Shape shape;
  std::span<const Real> values;
};

}  // namespace weft::core
