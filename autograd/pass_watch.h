#pragma once

#include <atomic>

#include "core/real.h"

namespace weft::autograd {

/// Follows one training pass and its sweep, for those who move values and gradients of parameters
/// while others are computed. What a pass records has places, ascending; several ops may share one.
class PassWatch {
 public:
  virtual ~PassWatch() = default;

  /// Someone is about to read a parameter of the arena, by its number; may come from any thread.
  virtual void before_read(core::Index parameter) = 0;
  /// Someone is about to read or write all of them.
  virtual void before_values() = 0;
  /// All that has this place or a later one has been swept. What was first read there has its
  /// whole gradient.
  virtual void swept(core::Index place) = 0;

  /// Where the pass is.
  core::Index place() const { return place_; }
  /// What follows has a later place.
  void advance() { ++place_; }

 protected:
  void restart() { place_ = 0; }

 private:
  std::atomic<core::Index> place_{0};
};

}  // namespace weft::autograd
