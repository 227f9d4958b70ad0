#pragma once

#include "core/arrays/gemm.h"

namespace weft::layers {

using core::Index;
using core::Real;

/// What the features of a map are, and by what a query divides.
enum class FeatureForm {
  /// Numbers: out_i = sum_j (q_i . k_j) v_j / (sum_j q_i . k_j + eps).
  weights,
  /// Logarithms on both sides: the same without eps, with exponentials taken against the largest
  /// key that a query has read, feature by feature, so that none overflows.
  logarithms,
  /// Shares of a query among the features, logarithms of keys: every feature averages the values
  /// by its own exponentials, out_i = sum_c q_ic (sum_j e^k_jc v_j) / (sum_j e^k_jc).
  shares,
};

/// How a mechanism turns the rows of a head, D wide, into P features.
class FeatureMap {
 public:
  virtual ~FeatureMap() = default;

  virtual FeatureForm form() const = 0;
  virtual Index features() const = 0;

  /// x: [rows, D] -> f: [rows, P]
  virtual void map_queries(const core::ConstMatrix& x, const core::Matrix& f) const = 0;
  virtual void map_keys(const core::ConstMatrix& x, const core::Matrix& f) const = 0;
  /// Writes dx: [rows, D] from df: [rows, P], which it may use up; f is what the map made of x.
  virtual void pull_back_queries(const core::ConstMatrix& x, const core::ConstMatrix& f,
                                 const core::Matrix& df, const core::Matrix& dx) const = 0;
  virtual void pull_back_keys(const core::ConstMatrix& x, const core::ConstMatrix& f,
                              const core::Matrix& df, const core::Matrix& dx) const = 0;

  /// Arithmetic of the matrix products in one map or pullback of that many rows.
  virtual Index flops(Index /*rows*/) const { return 0; }
};

}  // namespace weft::layers
