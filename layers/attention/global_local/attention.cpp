#include "layers/attention/global_local/attention.h"

#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "layers/attention/contract/fit.h"

namespace weft::layers {
namespace {

/// The rows of global tokens and of all others, in matrices of B sequences.
struct RowNumbersBySide {
  autograd::RowNumbers globals, others;
};

RowNumbersBySide rows_by_side(const Sequences& s, const std::vector<Index>& globals) {
  auto first = std::make_shared<std::vector<Index>>(),
       rest = std::make_shared<std::vector<Index>>();
  for (Index b = 0; b < s.batch; ++b)
    for (Index row = 0; row < s.keys; ++row)
      (row < globals[std::size_t(b)] ? first : rest)->push_back(b * s.keys + row);
  return {first, rest};
}

/// A block whose global rows come from one projection and whose other rows come from another.
HeadBlock spliced(const HeadBlock& of_globals, const HeadBlock& of_others,
                  const RowNumbersBySide& rows, Index columns) {
  const auto part = [&](const HeadBlock& block, const autograd::RowNumbers& own) {
    const Var x = autograd::slice(block.matrix, block.first, columns);
    return autograd::scatter_rows(autograd::gather_rows(x, own), own, x.shape()[0]);
  };
  return {autograd::add(part(of_globals, rows.globals), part(of_others, rows.others)), 0};
}

}  // namespace

void GlobalLocalSettings::fields(core::Fields& field) {
  globals.fields(field);
  field.integer("clip", rules.clip, "offsets farther than this share one label",
                core::between(1, 1 << 20));
  field.choice(
      "share", share,
      "projections of tokens and global tokens: qkv, the same for both; kv, a set for "
      "each; none, for each also other keys and values of the other side",
      {{"qkv", SideSharing::all}, {"kv", SideSharing::own_set}, {"none", SideSharing::nothing}});
  field.flag("hard_l2g", rules.hard_l2g, "a token reads its own global token only");
  field.flag("hard_g2l", rules.hard_g2l, "a global token reads its own tokens only");
  field.number("label_deviation", label_deviation, "standard deviation of the labels' initial keys",
               core::at_least(0));
}

AttentionTraits global_local_traits(std::string_view summary, Index near,
                                    const GlobalLocalSettings& settings) {
  const bool sentences = settings.globals.by == GlobalTokens::By::token;
  const std::string globals =
      settings.rules.hard_l2g
          ? "1"
          : core::message_of("1 + ", sentences ? "one a sentence"
                                               : core::message_of("T / ", settings.globals.every));
  return {.summary = summary,
          .causal = false,
          .cross = false,
          .keys_per_token = core::message_of("at most ", near, " and of global tokens ", globals),
          .decode_state = "none: it cannot decode"};
}

GlobalLocalAttention::GlobalLocalAttention(const GlobalLocalSettings& settings,
                                           const AttentionSite& site, Local local,
                                           std::shared_ptr<PlanCache> plans)
    : settings_(settings),
      heads_(site.heads),
      width_(site.head_width),
      scale_(Real(1 / std::sqrt(double(site.head_width)))),
      local_(std::move(local)),
      tokens_{{{settings.rules.labels(), heads_ * width_},
               autograd::Init::normal(settings.label_deviation)},
              {{heads_, settings.rules.labels()}, autograd::Init::zeros()}},
      globals_{{{settings.rules.labels(), heads_ * width_},
                autograd::Init::normal(settings.label_deviation)},
               {{heads_, settings.rules.labels()}, autograd::Init::zeros()}},
      cache_(std::move(plans)) {}

std::vector<Projection> GlobalLocalAttention::projections() const {
  using Side = Projection::Side;
  std::vector<Projection> all{{"q", Side::queries}, {"k", Side::keys}, {"v", Side::keys}};
  if (settings_.share != SideSharing::all)
    all.insert(all.end(),
               {{"global_q", Side::queries}, {"global_k", Side::keys}, {"global_v", Side::keys}});
  if (settings_.share == SideSharing::nothing)
    for (const char* name : {"l2g_k", "l2g_v", "g2l_k", "g2l_v"}) all.push_back({name, Side::keys});
  return all;
}

std::vector<RowSide> GlobalLocalAttention::sides() const {
  if (settings_.share == SideSharing::all) return {RowSide::both};
  return {RowSide::tokens, RowSide::globals};
}

PlanCache::Plans GlobalLocalAttention::make_plans(const GlobalLocalStructure& structure) const {
  PlanCache::Plans plans;
  for (const RowSide side : sides())
    for (const Pattern& pattern : local_())
      plans.push_back(std::make_shared<const PatternPlan>(
          plan_global_local(structure, settings_.rules, pattern, side)));
  return plans;
}

PatternCall GlobalLocalAttention::call(const Pass& pass, const std::vector<HeadBlock>& blocks,
                                       const Sequences& sequences, const PlanCache::Plans& plans,
                                       RowSide side) const {
  PatternCall call{{.sequences = sequences,
                    .heads = heads_,
                    .head_width = width_,
                    .scale = scale_,
                    .plans = plans},
                   blocks,
                   {},
                   {}};
  const auto of = [&](const autograd::Parameter& table) {
    return autograd::as_variable(pass, table);
  };
  Var keys, bias;
  if (side == RowSide::both) {
    keys = autograd::append_rows(of(tokens_.keys), of(globals_.keys), 1, 0);
    bias = autograd::concat({of(tokens_.bias), of(globals_.bias)});
  } else {
    const Labels& own = side == RowSide::tokens ? tokens_ : globals_;
    keys = of(own.keys);
    bias = of(own.bias);
  }
  call.label(keys, autograd::scale(bias, scale_));
  return call;
}

Var GlobalLocalAttention::run(const Pass& pass, const AttentionInput& input, const SidePlans& plans,
                              const std::vector<Index>& globals) const {
  const Index columns = heads_ * width_;
  check_input("global-local", *this, input, heads_, width_);
  const std::vector<HeadBlock>& in = input.blocks;
  if (settings_.share == SideSharing::all)
    return call(pass, in, input.sequences, plans[0], RowSide::both).attend();
  std::vector<HeadBlock> by_tokens{in[0], in[1], in[2]}, by_globals{in[3], in[4], in[5]};
  if (settings_.share == SideSharing::nothing) {
    const RowNumbersBySide rows = rows_by_side(input.sequences, globals);
    for (const std::size_t i : {1, 2}) {
      by_tokens[i] = spliced(in[5 + i], in[i], rows, columns);
      by_globals[i] = spliced(in[3 + i], in[7 + i], rows, columns);
    }
  }
  return autograd::add(
      call(pass, by_tokens, input.sequences, plans[0], RowSide::tokens).attend(),
      call(pass, by_globals, input.sequences, plans[1], RowSide::globals).attend());
}

Var GlobalLocalAttention::forward(const Pass& pass, const AttentionInput& input) const {
  const auto make = [&](const RowLayout& layout) {
    return make_plans(GlobalLocalStructure::of(layout));
  };
  const SidePlans plans = cache_->of_all(input.sequences, heads_, sides().size(), make);
  std::vector<Index> globals;
  for (const RowLayout& layout : *input.sequences.rows)
    globals.push_back(GlobalLocalStructure::of(layout).globals);
  return run(pass, input, plans, globals);
}

Var GlobalLocalAttention::attend(const Pass& pass, const AttentionInput& input,
                                 const std::vector<GlobalLocalStructure>& structures) const {
  SidePlans plans(sides().size());
  std::vector<Index> globals;
  for (const GlobalLocalStructure& structure : structures) {
    const PlanCache::Plans made = make_plans(structure);
    const std::size_t each = made.size() / plans.size();
    for (std::size_t side = 0; side < plans.size(); ++side)
      for (Index head = 0; head < heads_; ++head)
        plans[side].push_back(made[side * each + std::size_t(head) % each]);
    globals.push_back(structure.globals);
  }
  return run(pass, input, plans, globals);
}

Cost GlobalLocalAttention::cost(const Sequences& sequences) const {
  const auto make = [&](const RowLayout& layout) {
    return make_plans(GlobalLocalStructure::of(layout));
  };
  const SidePlans plans = cache_->of_all(sequences, heads_, sides().size(), make);
  const HeadBlock any{Var(Tensor({1, heads_ * width_})), 0};
  Cost total;
  for (std::size_t i = 0; i < plans.size(); ++i)
    total += pattern_cost(call(Pass(), {any, any, any}, sequences, plans[i], sides()[i]).problem);
  const Index columns = heads_ * width_, labels = settings_.rules.labels();
  Index numbers = 2 * labels * heads_;
  if (settings_.share == SideSharing::all) numbers += 2 * labels * columns;
  if (settings_.share == SideSharing::nothing)
    numbers += 4 * sequences.batch * sequences.keys * columns;
  total.saved_bytes += numbers * Index(sizeof(Real));
  return total;
}

void GlobalLocalAttention::visit(autograd::Inventory& inventory) {
  inventory.add("token_labels.keys", tokens_.keys);
  inventory.add("token_labels.bias", tokens_.bias);
  inventory.add("global_labels.keys", globals_.keys);
  inventory.add("global_labels.bias", globals_.bias);
}

void GlobalLocalAttention::refuse_decoding() {
  throw core::Error(
      "global-local attention cannot decode: its global tokens read the whole sequence, so every "
      "token would change all earlier outputs; generate with another attention");
}

}  // namespace weft::layers
