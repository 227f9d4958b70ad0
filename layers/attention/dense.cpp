// Softmax attention over every readable key: out_i = sum_j softmax_j(scale q_i . k_j) v_j.
#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/simd/kernels.h"
#include "layers/attention/check_input.h"
#include "layers/attention/dense_kernel.h"

namespace weft::layers {
namespace {

struct DenseSettings {
  double scale = 0;

  void fields(core::Fields& field) {
    field.number("scale", scale, "factor of the scores; 0 stands for 1 / sqrt(head width)",
                 core::at_least(0));
  }
};

/// All keys and values so far, token by token: [t, H D] each.
struct KeyValueCache final : DecodeState {
  std::vector<Real> keys, values;
  Index bytes() const override { return Index((keys.size() + values.size()) * sizeof(Real)); }
};

class DenseAttention final : public Attention {
 public:
  DenseAttention(const DenseSettings& settings, const AttentionSite& site)
      : heads_(site.heads),
        width_(site.head_width),
        scale_(settings.scale > 0 ? Real(settings.scale)
                                  : Real(1 / std::sqrt(double(site.head_width)))) {}

  AttentionTraits traits() const override {
    return {.summary = "softmax over every earlier key",
            .keys_per_token = "all before it",
            .decode_state = "every key and value"};
  }

  /// Saves: the projections, the output and one log-sum for each query and head.
  Var forward(const Pass&, const AttentionInput& input) const override {
    check_input("dense", *this, input, heads_ * width_);
    const DenseProblem problem{input.sequences, heads_, width_, scale_};
    const Sequences& s = input.sequences;
    const HeadBlock &q = input.blocks[0], &k = input.blocks[1], &v = input.blocks[2];
    Tensor out({s.batch * s.queries, heads_ * width_});
    Tensor log_sums({s.batch, heads_, s.queries});
    dense_forward(problem, heads_of(q), heads_of(k), heads_of(v),
                  {out.write().data(), heads_ * width_}, log_sums.write().data());
    const HeadGradients gradients(input.blocks, heads_ * width_);
    const Tensor kept = out;
    return autograd::record(
        "dense_attention", std::move(out), gradients.sources(),
        [problem, gradients, blocks = input.blocks, kept, log_sums](Tensor dout) {
          autograd::Gradients d = gradients.allocate();
          const Index stride = dout.shape().back();
          dense_backward(problem, heads_of(blocks[0]), heads_of(blocks[1]), heads_of(blocks[2]),
                         {kept.data(), stride}, log_sums.data(), {dout.data(), stride},
                         gradients.heads(d, 0), gradients.heads(d, 1), gradients.heads(d, 2));
          return d;
        });
  }

  std::unique_ptr<DecodeState> begin() const override { return std::make_unique<KeyValueCache>(); }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    auto& cache = static_cast<KeyValueCache&>(state);
    cache.keys.insert(cache.keys.end(), input.blocks[1].begin(), input.blocks[1].end());
    cache.values.insert(cache.values.end(), input.blocks[2].begin(), input.blocks[2].end());
    const Index row = heads_ * width_, tokens = Index(cache.keys.size()) / row;
    std::vector<Real> weights(static_cast<std::size_t>(tokens));
    std::ranges::fill(out, Real(0));
    for (Index h = 0; h < heads_; ++h) {
      const Real* q = input.blocks[0].data() + h * width_;
      for (Index t = 0; t < tokens; ++t)
        weights[std::size_t(t)] =
            core::simd().dot(q, cache.keys.data() + t * row + h * width_, width_);
      const Real top = core::simd().max(weights.data(), tokens);
      const Real total = core::simd().exp_sum(weights.data(), scale_, scale_ * top, tokens);
      for (Index t = 0; t < tokens; ++t)
        core::simd().axpy(weights[std::size_t(t)] / total,
                          cache.values.data() + t * row + h * width_, out.data() + h * width_,
                          width_);
    }
  }

  Cost cost(const Sequences& sequences) const override {
    return dense_cost({sequences, heads_, width_, scale_});
  }

 private:
  Index heads_, width_;
  Real scale_;
};

}  // namespace

AttentionMaker configure_dense(core::Fields& fields, const AttentionSite&) {
  DenseSettings settings;
  settings.fields(fields);
  return [settings](const AttentionSite& site) {
    return std::make_unique<DenseAttention>(settings, site);
  };
}

}  // namespace weft::layers
