// Performer attention (FAVOR+): softmax weights estimated by positive random features,
//   phi(x)_c = exp(w_c . x / D^(1/4) - |x|^2 / (2 sqrt(D))),  E[phi(q) . phi(k)] = e^(q.k /
//   sqrt(D)),
// with rows w_c that are orthogonal in blocks of D and have the lengths of normal vectors.
#include <cmath>

#include "core/simd/kernels.h"
#include "layers/attention/features/attention.h"
#include "layers/attention/features/orthogonal_features.h"

namespace weft::layers {
namespace {

struct PerformerSettings {
  Index features = 0;
  Index redraw = 1000;
  Index chunk = 64;

  void fields(core::Fields& field) {
    field.integer("features", features,
                  "random features per head; 0: D ln D, at least D, of head width D",
                  core::between(0, 65536));
    field.integer("redraw", redraw, "training steps after which features are drawn again; 0: never",
                  core::at_least(0));
    list_chunk(field, chunk);
  }

  AttentionTraits traits() const {
    return {.summary = "softmax estimated by positive random features; linear in the length",
            .exact = false,
            .bf16 = true,
            .queries_alone = true,
            .chunks = true,
            .keys_per_token = "all before it, as one sum",
            .decode_state = "a matrix of P x D sums a head, with their largest keys"};
  }
};

/// Logarithms of the features. A query's |q|^2 / 2 divides out and is left out, as is the factor
/// of the mean.
class RandomMap final : public FeatureMap {
 public:
  /// weights: at least [P D] numbers
  RandomMap(Tensor weights, Index features, Index width)
      : weights_(std::move(weights)),
        features_(features),
        width_(width),
        scale_(Real(1 / std::sqrt(std::sqrt(double(width))))) {}

  FeatureForm form() const override { return FeatureForm::logarithms; }
  Index features() const override { return features_; }
  void map_queries(const core::ConstMatrix& x, const core::Matrix& f) const override {
    core::gemm(scale_, x, core::transposed(weights()), 0, f);
  }
  void map_keys(const core::ConstMatrix& x, const core::Matrix& f) const override {
    map_queries(x, f);
    for (Index r = 0; r < x.rows; ++r) {
      const Real* row = x.data + r * x.stride;
      const Real shift = scale_ * scale_ / 2 * core::simd().dot(row, row, width_);
      for (Index c = 0; c < features_; ++c) f.data[r * f.stride + c] -= shift;
    }
  }
  void pull_back_queries(const core::ConstMatrix&, const core::ConstMatrix&, const core::Matrix& df,
                         const core::Matrix& dx) const override {
    core::gemm(scale_, df, weights(), 0, dx);
  }
  void pull_back_keys(const core::ConstMatrix& x, const core::ConstMatrix& f,
                      const core::Matrix& df, const core::Matrix& dx) const override {
    pull_back_queries(x, f, df, dx);
    for (Index r = 0; r < x.rows; ++r) {
      const Real total = core::simd().sum(df.data + r * df.stride, features_);
      core::simd().axpy(-scale_ * scale_ * total, x.data + r * x.stride, dx.data + r * dx.stride,
                        width_);
    }
  }
  Index flops(Index rows) const override { return 2 * rows * features_ * width_; }

 private:
  core::ConstMatrix weights() const { return {weights_.data(), features_, width_, width_}; }

  Tensor weights_;
  Index features_, width_;
  Real scale_;
};

Index count_features(const PerformerSettings& settings, Index width) {
  if (settings.features > 0) return settings.features;
  return std::max(width, Index(double(width) * std::log(double(width))));
}

/// The features are a state, [P D] numbers and their age in steps: evaluation and decoding use
/// what training used last, and a resumed run goes on with it. Every training pass proposes a
/// number from its own stream; the sum of a step's proposals names the next draw, whenever one is
/// due: after the first step, from when on it is the run's own, and then by the period.
class PerformerAttention final : public FeatureAttention {
 public:
  PerformerAttention(const PerformerSettings& settings, const AttentionSite& site)
      : FeatureAttention("performer", site, 0, settings.chunk),
        features_(count_features(settings, site.head_width)),
        width_(site.head_width),
        draw_(first_draw(site, features_), redrawing(settings.redraw, site, features_)) {}

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    const Index names = 1 << 20;  // few enough for sums of proposals to be exact in float
    pass.propose(draw_, Tensor({1}, Real(pass.stream().fold("features").below(0, names))));
    return FeatureAttention::forward(pass, input);
  }
  void visit(autograd::Inventory& inventory) override { inventory.add("features", draw_); }

 protected:
  std::shared_ptr<const FeatureMap> map() const override {
    return std::make_shared<RandomMap>(draw_.value(), features_, width_);
  }

 private:
  static void draw(std::span<Real> value, const AttentionSite& site, Index features,
                   std::uint64_t name) {
    const core::Rng rng = core::Rng(name).fold("performer").fold(std::uint64_t(site.layer));
    draw_orthogonal_features(value.first(value.size() - 1), features, site.head_width, rng);
  }
  static Tensor first_draw(const AttentionSite& site, Index features) {
    Tensor value({features * site.head_width + 1}, 0);
    draw(value.write(), site, features, 0);
    return value;
  }
  static autograd::State::Rule redrawing(Index period, const AttentionSite& site, Index features) {
    return [=](std::span<Real> value, std::span<const Real> proposed) {
      Real& age = value.back();
      if (age == 0) draw(value, site, features, std::uint64_t(proposed[0]));
      age = period > 0 && age + 1 >= Real(period) ? 0 : age + 1;
    };
  }

  Index features_, width_;
  mutable autograd::State draw_;
};

}  // namespace

AttentionPlan configure_performer(core::Fields& fields, const AttentionSite&) {
  return configure<PerformerSettings, PerformerAttention>(fields);
}

}  // namespace weft::layers
