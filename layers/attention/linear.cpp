// Linear attention: weights phi(q_i) . phi(k_j) with a positive map phi taken element by element,
//   out_i = sum_j phi(q_i) . phi(k_j) v_j / (sum_j phi(q_i) . phi(k_j) + eps).
#include "core/simd/kernels.h"
#include "layers/attention/features/attention.h"

namespace weft::layers {
namespace {

/// phi, element by element.
enum class PositiveFunction { elu, relu, softplus };

struct LinearSettings {
  PositiveFunction map = PositiveFunction::elu;
  double eps = 1e-6;
  Index chunk = 64;

  void fields(core::Fields& field) {
    field.choice("map", map, "positive feature map: elu(x) + 1, max(x, 0) + 0.001, ln(1 + e^x)",
                 {{"elu", PositiveFunction::elu},
                  {"relu", PositiveFunction::relu},
                  {"softplus", PositiveFunction::softplus}});
    field.number("eps", eps, "added to every sum of weights", core::between(0, 1));
    list_chunk(field, chunk);
  }

  AttentionTraits traits() const {
    return {.summary = "weights are products of positive features; linear in the length",
            .exact = false,
            .bf16 = true,
            .queries_alone = true,
            .chunks = true,
            .keys_per_token = "all before it, as one sum",
            .decode_state = "a matrix of D x D sums a head"};
  }
};

/// Keeps every feature of the map by relu above zero, so that no sum of weights vanishes.
constexpr Real relu_floor = Real(1e-3);

void relu_above_floor(const Real* x, Real* f, Index n) {
  core::simd().relu(x, f, n);
  for (Index i = 0; i < n; ++i) f[i] += relu_floor;
}

void relu_above_floor_gradient(const Real* f, Real* d, Index n) {
  for (Index i = 0; i < n; ++i) d[i] = f[i] > relu_floor ? d[i] : 0;
}

/// One positive function of each element, the same for queries and keys.
class PositiveMap final : public FeatureMap {
 public:
  PositiveMap(PositiveFunction function, Index width) : width_(width) {
    if (function == PositiveFunction::relu) {
      apply_ = relu_above_floor;
      differentiate_ = relu_above_floor_gradient;
    } else if (function == PositiveFunction::softplus) {
      apply_ = core::simd().softplus;
      differentiate_ = core::simd().softplus_gradient;
    }
  }

  FeatureForm form() const override { return FeatureForm::weights; }
  Index features() const override { return width_; }
  void map_queries(const core::ConstMatrix& x, const core::Matrix& f) const override {
    for (Index r = 0; r < x.rows; ++r) apply_(x.data + r * x.stride, f.data + r * f.stride, x.cols);
  }
  void map_keys(const core::ConstMatrix& x, const core::Matrix& f) const override {
    map_queries(x, f);
  }
  void pull_back_queries(const core::ConstMatrix&, const core::ConstMatrix& f,
                         const core::Matrix& df, const core::Matrix& dx) const override {
    for (Index r = 0; r < f.rows; ++r) {
      Real* to = dx.data + r * dx.stride;
      std::copy_n(df.data + r * df.stride, f.cols, to);
      differentiate_(f.data + r * f.stride, to, f.cols);
    }
  }
  void pull_back_keys(const core::ConstMatrix& x, const core::ConstMatrix& f,
                      const core::Matrix& df, const core::Matrix& dx) const override {
    pull_back_queries(x, f, df, dx);
  }

 private:
  Index width_;
  void (*apply_)(const Real* x, Real* f, Index n) = core::simd().elu_plus_one;
  void (*differentiate_)(const Real* f, Real* d, Index n) = core::simd().elu_plus_one_gradient;
};

class LinearAttention final : public FeatureAttention {
 public:
  LinearAttention(const LinearSettings& settings, const AttentionSite& site)
      : FeatureAttention("linear", site, settings.eps, settings.chunk),
        map_(std::make_shared<PositiveMap>(settings.map, site.head_width)) {}

 protected:
  std::shared_ptr<const FeatureMap> map() const override { return map_; }

 private:
  std::shared_ptr<const FeatureMap> map_;
};

}  // namespace

AttentionPlan configure_linear(core::Fields& fields, const AttentionSite&) {
  return configure<LinearSettings, LinearAttention>(fields);
}

}  // namespace weft::layers
