#pragma once

#include "core/arrays/tensor.h"

namespace weft::autograd {

/// Tokens as a plane of length x modules with M channels, and the window of a convolution over it:
/// F tokens that end at the token itself, C modules around the module itself.
struct ModulePlane {
  core::Index length = 1;    ///< T, of every sequence
  core::Index modules = 1;   ///< S
  core::Index channels = 1;  ///< M
  core::Index taps = 1;      ///< F
  core::Index spread = 1;    ///< C, odd

  /// Numbers in a window: F C M.
  core::Index window() const { return taps * spread * channels; }
  core::Index width() const { return modules * channels; }

  /// Lays out the window of every module of one token, zeros outside the plane, from its tokens
  /// and as many before it as the window has.  -> [S, F C M]
  /// rows: row a - F + 1 relative to the token's own for tap a, null before the sequence began.
  void gather(const core::Real* const* rows, core::Real* windows) const;

  /// The windows of tokens [first, first + count) of x: [B * T, S M] -> [count * S, F C M].
  void gather(const core::Real* x, core::Index first, core::Index count, core::Real* windows) const;
  /// What each place feeds: for tap (a, c), the token F - 1 - a later and the module as far on the
  /// other side. With weights of swapped channels, its product is the gradient of the plane.
  void gather_readers(const core::Real* dy, core::Index first, core::Index count,
                      core::Real* windows) const;

 private:
  void gather_row(const core::Real* row, core::Index tap, core::Index direction,
                  core::Real* windows) const;
};

}  // namespace weft::autograd
