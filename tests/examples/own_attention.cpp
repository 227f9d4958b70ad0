// Adds an attention mechanism from outside: each token reads the mean of all values up to itself.
#include <weft/layers/attention/lists/decoding.h>
#include <weft/weft.h>

using namespace weft::layers;

struct MeanSettings {
  void fields(weft::core::Fields&) {}  // what is listed here can be set in [attention.mean]
  AttentionTraits traits() const { return {.bidirectional = false, .cross = false}; }
};
struct Mean : Attention {
  Mean(const MeanSettings&, const AttentionSite& site) : W(site.heads * site.head_width) {}
  std::vector<Projection> projections() const override { return {{"v", Projection::Side::keys}}; }
  Var forward(const Pass&, const AttentionInput& in) const override {
    const Var v = weft::autograd::slice(in.blocks[0].matrix, in.blocks[0].first, W);
    Tensor y = v.value();  // y_t = (t y_(t-1) + v_t) / (t + 1)
    for (Index i = 0, t = 0, T = in.sequences.queries; i < y.size(); t = ++i / W % T)
      y.write()[i] = (y.data()[i] + (t ? Real(t) * y.data()[i - W] : 0)) / Real(t + 1);
    return record("mean", y, {v}, [W = W, T = in.sequences.queries](Tensor d) {
      for (Index i = d.size() - 1, t = T - 1; i >= 0; t = --i / W % T)  // dv_t = dv_(t+1) + ...
        d.write()[i] = (t + 1 < T ? d.data()[i + W] : 0) + d.data()[i] / Real(t + 1);
      return weft::autograd::Gradients{d};
    });
  }
  std::unique_ptr<DecodeState> begin() const override { return std::make_unique<PrefixCache>(); }
  void step(DecodeState& state, const StepInput& in, std::span<Real> out) const override {
    step_over_prefix(*this, static_cast<PrefixCache&>(state), in, out);
  }
  Cost cost(const Sequences&) const override { return {}; }
  const Index W;
};

int main() {
  register_attention({"mean", [](auto& f, auto&) { return configure<MeanSettings, Mean>(f); }});
  weft::experiments::Trainer trainer(weft::experiments::RunConfig::from_text(
      "model.attention = 'mean'\ntrain.steps = 40\noptim.lr = 5e-3", "mean.toml"));
  const double first = trainer.step().loss;
  while (trainer.steps_done() < 39) trainer.step();
  return trainer.step().loss < first - 0.3 ? 0 : 1;
}
