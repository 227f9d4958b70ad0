#include "autograd/module_plane.h"

#include <algorithm>

#include "core/parallel.h"

namespace weft::autograd {

using core::Index;
using core::Real;

void ModulePlane::gather_row(const Real* row, Index tap, Index direction, Real* windows) const {
  for (Index s = 0; s < modules; ++s)
    for (Index c = 0; c < spread; ++c) {
      const Index from = s + direction * (c - spread / 2);
      Real* to = windows + s * window() + (tap * spread + c) * channels;
      if (row && from >= 0 && from < modules)
        std::copy_n(row + from * channels, channels, to);
      else
        std::fill_n(to, channels, Real(0));
    }
}

void ModulePlane::gather(const Real* const* rows, Real* windows) const {
  for (Index a = 0; a < taps; ++a) gather_row(rows[a], a, 1, windows);
}

void ModulePlane::gather(const Real* x, Index first, Index count, Real* windows) const {
  const Index each = modules * window();
  core::parallel_for(count, core::rows_per_piece(each), [=, this](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      for (Index a = 0; a < taps; ++a) {
        const Index back = taps - 1 - a;
        const bool there = (first + r) % length >= back;
        gather_row(there ? x + (first + r - back) * width() : nullptr, a, 1, windows + r * each);
      }
  });
}

void ModulePlane::gather_readers(const Real* dy, Index first, Index count, Real* windows) const {
  const Index each = modules * window();
  core::parallel_for(count, core::rows_per_piece(each), [=, this](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      for (Index a = 0; a < taps; ++a) {
        const Index ahead = taps - 1 - a;
        const bool there = (first + r) % length + ahead < length;
        gather_row(there ? dy + (first + r + ahead) * width() : nullptr, a, -1, windows + r * each);
      }
  });
}

}  // namespace weft::autograd
