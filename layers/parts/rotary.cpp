#include "layers/parts/rotary.h"

#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace weft::layers {

Rotary::Rotary(Index head_width, Index length, double base) : half_(head_width / 2), base_(base) {
  core::require(head_width % 2 == 0, "rotary positions need an even head width, got ", head_width);
  extend(length);
}

void Rotary::extend(Index length) const {
  for (Index p = half_ ? Index(cosines_.size()) / half_ : length; p < length; ++p)
    for (Index t = 0; t < half_; ++t) {
      const double angle = double(p) * std::pow(base_, -double(t) / double(half_));
      cosines_.push_back(Real(std::cos(angle)));
      sines_.push_back(Real(std::sin(angle)));
    }
}

void Rotary::rotate(Real* head, Index position, Real direction) const {
  const Real *c = cosines_.data() + position * half_, *s = sines_.data() + position * half_;
  for (Index t = 0; t < half_; ++t) {
    const Real x = head[t], y = head[t + half_];
    head[t] = x * c[t] - direction * y * s[t];
    head[t + half_] = y * c[t] + direction * x * s[t];
  }
}

Var Rotary::turn(const Var& x, const std::vector<Index>& first_columns, Index heads, Index length,
                 Index first) const {
  extend(first + length);
  const auto turn_all = [this, first_columns, heads, length, first](Tensor& m, Real direction) {
    const Index columns = m.shape().back();
    Real* data = m.write().data();
    core::parallel_for(
        m.shape().rows(), core::rows_per_piece(columns), [&](Index begin, Index end) {
          for (Index r = begin; r < end; ++r)
            for (const Index column : first_columns)
              for (Index h = 0; h < heads; ++h)
                rotate(data + r * columns + column + 2 * h * half_, first + r % length, direction);
        });
  };
  Tensor y(x.shape(), 0);
  core::accumulate(y, x.value());
  turn_all(y, 1);
  return autograd::record("rotary", std::move(y), {x}, [turn_all](Tensor dy) {
    turn_all(dy, -1);
    return autograd::Gradients{std::move(dy)};
  });
}

void Rotary::turn_row(std::span<Real> row, Index position) const {
  extend(position + 1);
  for (std::size_t h = 0; h < row.size(); h += std::size_t(2 * half_))
    rotate(row.data() + h, position, 1);
}

}  // namespace weft::layers
