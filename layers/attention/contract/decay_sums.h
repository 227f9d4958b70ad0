#pragma once

#include <vector>

#include "core/arrays/tensor.h"

namespace weft::layers {

using core::Index;
using core::Real;
using core::Tensor;

/// c_t, the sum of a head's decays up to and with token t, so that c_t - c_j is what decays between
/// a key j and a query t. In double: sums grow with the length, and only their differences count.
class DecaySums {
 public:
  /// decays: [B T, H]
  DecaySums(const Tensor& decays, Index batch)
      : heads_(decays.shape()[1]), length_(decays.shape()[0] / batch) {
    sums_.resize(std::size_t(decays.size()));
    for (Index b = 0; b < batch; ++b)
      for (Index h = 0; h < heads_; ++h) {
        double sum = 0;
        for (Index t = 0; t < length_; ++t)
          sums_[std::size_t((b * heads_ + h) * length_ + t)] = sum +=
              double(decays.data()[(b * length_ + t) * heads_ + h]);
      }
  }

  /// Of head `lane % heads` of sequence `lane / heads`: [T]
  const double* of(Index lane) const { return sums_.data() + lane * length_; }

  /// The gradient of the decays from what each key and each query got: dc_t = row_t - column_t, and
  /// a decay gets those of all tokens from its own on. The first one decays nothing.
  /// rows, columns: [T] each; to: every H-th number
  void pull_back(const Real* rows, const Real* columns, Real* to) const {
    double sum = 0;
    for (Index t = length_; t-- > 0;) {
      sum += double(rows[t]) - double(columns[t]);
      to[t * heads_] = t > 0 ? Real(sum) : 0;
    }
  }

 private:
  Index heads_, length_;
  std::vector<double> sums_;
};

}  // namespace weft::layers
