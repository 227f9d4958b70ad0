#pragma once

#include <utility>

#include "core/arrays/tensor.h"
#include "core/error.h"

namespace weft::core {

/// One array that is handed out piece by piece; pieces live as long as it does and hold anything.
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(Index size)
      : memory_({size}), next_(memory_.write().data()), end_(next_ + size) {}

  /// The next `count` numbers.
  Real* take(Index count) {
    require(count <= end_ - next_, "scratch: ", count, " numbers of ", end_ - next_, " left");
    return std::exchange(next_, next_ + count);
  }

 private:
  Tensor memory_;
  Real *next_ = nullptr, *end_ = nullptr;
};

}  // namespace weft::core
