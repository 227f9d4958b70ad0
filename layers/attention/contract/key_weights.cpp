#include "layers/attention/contract/key_weights.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {
namespace {

Index value_columns(const Attention& attention, Index heads, Index head_width) {
  for (const Projection& projection : attention.projections())
    if (projection.name == "v") return projection.columns(heads, head_width);
  throw core::Error("key_weights: the attention has no projection \"v\" of values");
}

}  // namespace

Var weigh_values(const Attention& attention, const Pass& pass, AttentionInput input,
                 const HeadBlock& values) {
  if (const auto* own = dynamic_cast<const SumsValues*>(&attention))
    return own->weigh(pass, std::move(input), values);
  const std::vector<Projection> all = attention.projections();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name.ends_with('v')) input.blocks[i] = values;
  return attention.forward(pass, input);
}

TokenGroups token_groups(const Attention& attention, const Pass& pass,
                         const AttentionInput& input) {
  const auto* own = dynamic_cast<const GroupsTokens*>(&attention);
  return own ? own->groups(pass, input) : TokenGroups();
}

Tensor key_weights(const Attention& attention, const Pass& pass, AttentionInput input, Index heads,
                   Index head_width) {
  Sequences& s = input.sequences;
  s.state = nullptr;
  s.segment = nullptr;
  const Index columns = value_columns(attention, heads, head_width), D = head_width;
  const auto* own = dynamic_cast<const SumsValues*>(&attention);
  const Index spread = own && own->weighs_columns() ? D : 1;  // columns that are 1 for a key
  const auto summed = [&](Tensor values) {
    return weigh_values(attention, pass, input, {Var(std::move(values)), 0}).value();
  };
  const Tensor base = summed(Tensor({s.batch * s.keys, columns}, Real(0)));
  Tensor weights({s.batch, heads, s.queries, s.keys}, Real(0));
  Real* to = weights.write().data();
  for (Index first = 0; first < s.keys; first += D / spread) {
    const Index count = std::min(D / spread, s.keys - first);
    Tensor values({s.batch * s.keys, columns}, Real(0));
    Real* one = values.write().data();
    for (Index b = 0; b < s.batch; ++b)
      for (Index column = 0; column < columns; ++column)
        if (const Index j = column % D / spread; j < count)
          one[(b * s.keys + first + j) * columns + column] = 1;
    const Tensor sums = summed(std::move(values));
    for (Index row = 0; row < s.batch * s.queries; ++row)
      for (Index h = 0; h < heads; ++h) {
        const Index from = (row * heads + h) * D, lane = row / s.queries * heads + h;
        Real* const own_row = to + (lane * s.queries + row % s.queries) * s.keys + first;
        for (Index c = 0; c < count * spread; ++c)
          own_row[c / spread] += (sums.data()[from + c] - base.data()[from + c]) / Real(spread);
      }
  }
  return weights;
}

}  // namespace weft::layers
