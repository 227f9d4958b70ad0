#include "layers/multi_head/cross_attention.h"

namespace weft::layers {

Var CrossAttention::forward(const Pass& pass, const Var& x, const Var& source,
                            const Sequences& sequences) const {
  std::vector<Var> heads;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const HeadGroups::Group& group = groups_[g];
    const Pass own = pass.at(g);
    AttentionInput input{group.in->forward(own, x, sequences.queries), x, sequences};
    const auto keys = group.keys->forward(own, source, sequences.keys);
    input.blocks.insert(input.blocks.end(), keys.begin(), keys.end());
    heads.push_back(group.fittings->finish(attend(own, group, std::move(input)), x));
  }
  return groups_.finish(HeadGroups::side_by_side(heads));
}

Var CrossAttention::attend(const Pass& pass, const HeadGroups::Group& group, AttentionInput input) {
  const HeadFittings& fittings = *group.fittings;
  input.blocks = fittings.repeat(fittings.normalise(input.blocks));
  return group.attention->forward(pass, input);
}

CrossAttention::State CrossAttention::begin(const Tensor& source) const {
  const Index length = source.shape()[0];
  State state{{1, 1, length, false}, {}, {}};
  for (const HeadGroups::Group& group : groups_) {
    state.keys.push_back(group.keys->forward(Pass(), Var(source), length));
    state.queries.push_back(group.in->begin());
  }
  return state;
}

Tensor CrossAttention::step(const std::vector<State*>& states, const Tensor& x) const {
  std::vector<Var> heads;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const HeadGroups::Group& group = groups_[g];
    StepRows rows;
    for (State* state : states) rows.push_back({state->queries[g].get()});
    const Tensor packed = group.in->step(rows, x);
    const Tensor read = stacked_rows(x.shape()[0], group.columns, [&](Index r) {
      const State& state = *states[std::size_t(r)];
      const Var row(packed.rows(r, 1));
      AttentionInput input{{}, Var(x.rows(r, 1)), state.sequences};
      Index first = 0;
      for (std::size_t i = 0; i < group.query_sided(); ++i) {
        input.blocks.push_back({row, first});
        first += group.projections[i].columns(group.heads, group.head_width());
      }
      input.blocks.insert(input.blocks.end(), state.keys[g].begin(), state.keys[g].end());
      return attend(Pass(), group, std::move(input)).value();
    });
    heads.push_back(group.fittings->finish(Var(read), Var(x)));
  }
  return groups_.finish(HeadGroups::side_by_side(heads)).value();
}

}  // namespace weft::layers
