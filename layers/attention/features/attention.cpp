#include "layers/attention/features/attention.h"

#include "layers/attention/contract/fit.h"
#include "layers/attention/features/carried_sums.h"
#include "layers/attention/features/decoding.h"
#include "layers/attention/features/kernel.h"
#include "layers/attention/features/passed_sums.h"

namespace weft::layers {

Var FeatureAttention::forward(const Pass& pass, const AttentionInput& input) const {
  const Index columns = heads_ * width_;
  check_input(kind_, *this, input, heads_, width_);
  const FeatureProblem p = problem(input.sequences);
  const HeadBlock &q = input.blocks[0], &k = input.blocks[1], &v = input.blocks[2];
  Tensor out({p.sequences.batch * p.sequences.queries, columns});
  FeatureTrace trace;
  if (p.sequences.chunk)
    trace.before = *pass.decide("passed_sums", [&] {
      return sums_from_left(p, [&] { return key_sums(p, heads_of(q), heads_of(k), heads_of(v)); });
    });
  feature_forward(p, heads_of(q), heads_of(k), heads_of(v), {out.write().data(), columns}, trace);
  const HeadGradients gradients(input.blocks, columns);
  const Tensor kept = p.map->form() == FeatureForm::shares ? Tensor() : out;
  return autograd::record(
      "feature_attention", std::move(out), gradients.sources(),
      [p, gradients, blocks = input.blocks, kept, trace](Tensor dout) mutable {
        autograd::Gradients d = gradients.allocate();
        const Index stride = dout.shape().back();
        const ConstHeads of_q = heads_of(blocks[0]), of_k = heads_of(blocks[1]),
                         of_v = heads_of(blocks[2]), of_out{kept.data(), stride},
                         of_dout{dout.data(), stride};
        if (p.sequences.chunk)
          trace.after = sums_from_right(
              p, [&] { return query_sums(p, of_q, of_k, of_v, of_out, trace, of_dout); });
        feature_backward(p, of_q, of_k, of_v, of_out, trace, of_dout, gradients.heads(d, 0),
                         gradients.heads(d, 1), gradients.heads(d, 2));
        return d;
      });
}

Index FeatureAttention::passed_numbers() const {
  return heads_ * CarriedSums::size(map()->features(), width_);
}

std::unique_ptr<DecodeState> FeatureAttention::begin() const {
  return std::make_unique<FeatureDecodeState>(problem({}));
}

void FeatureAttention::step(DecodeState& state, const StepInput& input, std::span<Real> out) const {
  static_cast<FeatureDecodeState&>(state).step(problem({}), input.blocks[0], input.blocks[1],
                                               input.blocks[2], out);
}

Cost FeatureAttention::cost(const Sequences& sequences) const {
  return feature_cost(problem(sequences));
}

}  // namespace weft::layers
