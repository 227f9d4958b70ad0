#include "layers/settings/typical_weights.h"

#include "autograd/parameter_arena.h"
#include "layers/attention/contract/key_weights.h"
#include "layers/attention/contract/shared_tables.h"

namespace weft::layers {
namespace {

Tensor drawn(const core::Rng& stream, Index rows, Index columns) {
  Tensor x({rows, columns});
  core::fill_normal(x.write(), stream, 1);
  return x;
}

/// The rows of one sequence.
Sequences rows_of(const RowRule* rule, Index length, bool causal) {
  if (!rule) return Sequences::self(1, length, causal);
  RowLayout layout = rule->layout(length);
  Sequences sequences = Sequences::self(1, layout.rows, causal);
  sequences.rows =
      std::make_shared<const std::vector<RowLayout>>(std::vector<RowLayout>{std::move(layout)});
  return sequences;
}

}  // namespace

Observation typical_weights(const HeadGroupPlan& plan, AttentionSite site, Index length) {
  SharedTables shared;
  site.shared = &shared;
  site.heads = plan.heads;
  site.kv_heads = plan.fittings.shared_of(plan.heads);
  const auto attention = plan.attention.make(site);
  autograd::Inventory inventory;
  attention->visit(inventory);
  shared.visit(inventory);
  autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::inference);
  arena.initialise(core::Rng(1));
  const core::Rng stream(2);
  AttentionInput input;
  input.sequences = rows_of(plan.attention.rows.get(), length, site.causal);
  const Index rows = input.sequences.keys;
  for (const Projection& projection : attention->projections())
    input.blocks.push_back({Var(drawn(stream.fold(input.blocks.size()), rows,
                                      projection.columns(site.heads, site.head_width))),
                            0});
  input.x = Var(drawn(stream.fold("x"), rows, site.width));
  const Pass pass(stream.fold("evaluation"));
  return {"",
          site,
          input.sequences,
          key_weights(*attention, pass, input, site.heads, site.head_width),
          token_groups(*attention, pass, input),
          attention->spans()};
}

}  // namespace weft::layers
