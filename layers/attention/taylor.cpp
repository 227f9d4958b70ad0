// First-order Taylor attention: e^x is replaced by 1 + x at unit queries and keys, so that weights
// are 1 + cos(q_i, k_j), never negative:
//   out_i = sum_j (1 + cos(q_i, k_j)) v_j / (sum_j (1 + cos(q_i, k_j)) + eps).
#include <cmath>

#include "core/simd/kernels.h"
#include "layers/attention/features/attention.h"

namespace weft::layers {
namespace {

struct TaylorSettings {
  double eps = 1e-6;
  Index chunk = 64;

  void fields(core::Fields& field) {
    field.number("eps", eps, "added to every sum of weights", core::between(0, 1));
    list_chunk(field, chunk);
  }

  AttentionTraits traits() const {
    return {.summary = "weights are 1 + cosine of query and key; linear in the length",
            .exact = false,
            .bf16 = true,
            .queries_alone = true,
            .chunks = true,
            .keys_per_token = "all before it, as one sum",
            .decode_state = "a matrix of (D + 1) x D sums a head"};
  }
};

/// [1, x / |x|]; a vector shorter than `shortest` is divided by that instead.
class UnitMap final : public FeatureMap {
 public:
  explicit UnitMap(Index width) : width_(width) {}

  FeatureForm form() const override { return FeatureForm::weights; }
  Index features() const override { return width_ + 1; }
  void map_queries(const core::ConstMatrix& x, const core::Matrix& f) const override {
    for (Index r = 0; r < x.rows; ++r) {
      const Real* from = x.data + r * x.stride;
      Real* to = f.data + r * f.stride;
      const Real inverse = 1 / std::max(length(from), shortest);
      to[0] = 1;
      for (Index d = 0; d < width_; ++d) to[d + 1] = inverse * from[d];
    }
  }
  void map_keys(const core::ConstMatrix& x, const core::Matrix& f) const override {
    map_queries(x, f);
  }
  /// dx = (df - x^ (x^ . df)) / |x|
  void pull_back_queries(const core::ConstMatrix& x, const core::ConstMatrix& f,
                         const core::Matrix& df, const core::Matrix& dx) const override {
    for (Index r = 0; r < x.rows; ++r) {
      const Real size = length(x.data + r * x.stride);
      const Real *unit = f.data + r * f.stride + 1, *g = df.data + r * df.stride + 1;
      const Real along = size > shortest ? core::simd().dot(unit, g, width_) : 0;
      const Real inverse = 1 / std::max(size, shortest);
      Real* to = dx.data + r * dx.stride;
      for (Index d = 0; d < width_; ++d) to[d] = inverse * (g[d] - along * unit[d]);
    }
  }
  void pull_back_keys(const core::ConstMatrix& x, const core::ConstMatrix& f,
                      const core::Matrix& df, const core::Matrix& dx) const override {
    pull_back_queries(x, f, df, dx);
  }

 private:
  static constexpr Real shortest = Real(1e-6);
  Real length(const Real* x) const { return std::sqrt(core::simd().dot(x, x, width_)); }

  Index width_;
};

class TaylorAttention final : public FeatureAttention {
 public:
  TaylorAttention(const TaylorSettings& settings, const AttentionSite& site)
      : FeatureAttention("taylor", site, settings.eps, settings.chunk),
        map_(std::make_shared<UnitMap>(site.head_width)) {}

 protected:
  std::shared_ptr<const FeatureMap> map() const override { return map_; }

 private:
  std::shared_ptr<const FeatureMap> map_;
};

}  // namespace

AttentionPlan configure_taylor(core::Fields& fields, const AttentionSite&) {
  return configure<TaylorSettings, TaylorAttention>(fields);
}

}  // namespace weft::layers
