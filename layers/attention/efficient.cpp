// Efficient attention, two softmaxes: a query's over the features, a key's over the positions,
//   out_i = sum_c softmax_c(q_i)[c] sum_j softmax_j(k_j[c]) v_j,
// the second over the keys that the query reads. The weights of a query sum to one.
#include "core/simd/kernels.h"
#include "layers/attention/features/attention.h"

namespace weft::layers {
namespace {

struct EfficientSettings {
  Index chunk = 64;

  void fields(core::Fields& field) { list_chunk(field, chunk); }

  AttentionTraits traits() const {
    return {.summary =
                "softmax of queries over features, of keys over positions; linear in the "
                "length",
            .exact = false,
            .bf16 = true,
            .queries_alone = true,
            .keys_per_token = "all before it, as one average a feature",
            .decode_state = "a matrix of D x D sums a head, with their largest keys"};
  }
};

/// Queries by softmax, keys as they are: the kernel takes their exponentials.
class SoftmaxMap final : public FeatureMap {
 public:
  explicit SoftmaxMap(Index width) : width_(width) {}

  FeatureForm form() const override { return FeatureForm::shares; }
  Index features() const override { return width_; }
  void map_queries(const core::ConstMatrix& x, const core::Matrix& f) const override {
    for (Index r = 0; r < x.rows; ++r) {
      Real* row = f.data + r * f.stride;
      std::copy_n(x.data + r * x.stride, width_, row);
      const Real total = core::simd().exp_sum(row, 1, core::simd().max(row, width_), width_);
      core::simd().scale(1 / total, row, width_);
    }
  }
  void map_keys(const core::ConstMatrix& x, const core::Matrix& f) const override { copy(x, f); }
  void pull_back_queries(const core::ConstMatrix&, const core::ConstMatrix& f,
                         const core::Matrix& df, const core::Matrix& dx) const override {
    for (Index r = 0; r < f.rows; ++r) {
      const Real* p = f.data + r * f.stride;
      Real *d = df.data + r * df.stride, *to = dx.data + r * dx.stride;
      core::simd().score_gradient(p, d, core::simd().dot(p, d, width_), 1, width_);
      std::copy_n(d, width_, to);
    }
  }
  void pull_back_keys(const core::ConstMatrix&, const core::ConstMatrix&, const core::Matrix& df,
                      const core::Matrix& dx) const override {
    copy(df, dx);
  }

 private:
  void copy(const core::ConstMatrix& from, const core::Matrix& to) const {
    for (Index r = 0; r < from.rows; ++r)
      std::copy_n(from.data + r * from.stride, width_, to.data + r * to.stride);
  }

  Index width_;
};

class EfficientAttention final : public FeatureAttention {
 public:
  EfficientAttention(const EfficientSettings& settings, const AttentionSite& site)
      : FeatureAttention("efficient", site, 0, settings.chunk),
        map_(std::make_shared<SoftmaxMap>(site.head_width)) {}

 protected:
  std::shared_ptr<const FeatureMap> map() const override { return map_; }

 private:
  std::shared_ptr<const FeatureMap> map_;
};

}  // namespace

AttentionPlan configure_efficient(core::Fields& fields, const AttentionSite&) {
  return configure<EfficientSettings, EfficientAttention>(fields);
}

}  // namespace weft::layers
