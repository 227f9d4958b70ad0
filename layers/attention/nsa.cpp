// Native sparse attention (NSA): a gated sum of three softmaxes for each query,
//   out = logistic(g_0) coarse + logistic(g_1) fine + logistic(g_2) near,  g = x W + b.
//   coarse: the means of complete stretches of tokens;
//   fine:   the tokens of a few blocks: at the start, the nearest, and those with most weight in
//           coarse, added up over the heads that share keys;
//   near:   a window.
#include <algorithm>
#include <cmath>

#include "core/counters.h"
#include "core/error.h"
#include "core/fields.h"
#include "core/simd/kernels.h"
#include "layers/attention/chosen/entry_choice.h"
#include "layers/attention/chosen/position_branch.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/fittings/gates.h"
#include "layers/attention/fittings/input_map.h"
#include "layers/attention/fittings/shared_heads.h"
#include "layers/attention/lists/attention.h"
#include "layers/attention/lists/decoding.h"
#include "layers/attention/pattern/call.h"

namespace weft::layers {
namespace {

struct NsaSettings {
  enum class Branches { shared, own };

  BlockSelection selection{.entries = {.block = 32, .stride = 16}};
  Index window = 512;
  Branches branches = Branches::shared;
  double scale = 0;

  void fields(core::Fields& field) {
    constexpr Index most = 65536;
    field.integer("block", selection.entries.block, "tokens averaged in an entry",
                  core::between(1, most));
    field.integer("stride", selection.entries.stride, "distance between entries, in tokens",
                  core::between(1, most));
    field.integer("select_block", selection.width, "tokens of a block that can be chosen",
                  core::between(1, most));
    field.integer("selected", selection.selected, "blocks that a query reads",
                  core::between(1, 4096));
    field.added("first", "0");
    field.integer("first", selection.first, "of them, blocks at the start of the sequence",
                  core::between(0, 4096));
    field.integer("nearest", selection.nearest, "of them, the last blocks, up to the query's own",
                  core::between(0, 4096));
    field.integer("window", window, "tokens that a query always reads, itself and those before",
                  core::between(1, most));
    field.choice("branches", branches,
                 "whether the three softmaxes share their keys and values or have their own",
                 {{"shared", Branches::shared}, {"own", Branches::own}});
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
    if (selection.first + selection.nearest > selection.selected)
      field.problem("selected",
                    core::message_of(selection.selected, " blocks cannot hold ", selection.first,
                                     " first and ", selection.nearest, " nearest ones"));
  }

  AttentionTraits traits() const {
    return {.summary =
                "gated sum of softmaxes over mean keys, over the blocks that these select, and "
                "over a window",
            .bidirectional = false,
            .cross = false,
            .adaptive = true,
            .bf16 = true,
            .keys_per_token =
                core::message_of("at most ", selection.selected, " x ", selection.width, " and ",
                                 window, ", and a mean for every ", selection.entries.stride),
            .decode_state = "every key and value, and the means"};
  }
};

struct NsaState final : CopiedState<NsaState> {
  std::vector<MemberCache> caches;  ///< keys and values of each branch, or of all, [t, G D]
  std::vector<PackedRows> keys;     ///< of entries, for each head of keys
  std::vector<Real> values;         ///< of entries, [E, G D]

  Index bytes() const override {
    Index total = Index(values.size() * sizeof(Real));
    for (const MemberCache& cache : caches) total += cache.bytes();
    for (const PackedRows& rows : keys) total += rows.bytes();
    return total;
  }
};

class NsaAttention final : public Attention {
 public:
  NsaAttention(const NsaSettings& settings, const AttentionSite& site)
      : chooser_{settings.selection, site.heads, site.key_heads(), site.head_width,
                 settings.scale > 0 ? Real(settings.scale)
                                    : Real(1 / std::sqrt(double(site.head_width)))},
        selection_(chooser_.selection),
        window_(settings.window),
        own_(settings.branches == NsaSettings::Branches::own),
        heads_(site.heads),
        kv_heads_(site.kv_heads),
        key_heads_(site.key_heads()),
        width_(site.head_width),
        precision_(site.precision),
        scale_(chooser_.scale),
        coarse_(
            form(), [e = selection_.entries](Index tokens) { return e.count(tokens); },
            [e = selection_.entries](Index) {
              return stair_pattern([e](Index query) { return e.count(query + 1); });
            }),
        near_(
            form(), [](Index tokens) { return tokens; },
            [window = window_](Index) { return window_behind(0, window); }),
        coarse_gate_(site.width, heads_, gate_from(-2)),
        fine_gate_(site.width, heads_, gate_from(-2)),
        near_gate_(site.width, heads_, gate_from(2)) {}

  std::vector<Projection> projections() const override {
    using Side = Projection::Side;
    std::vector<Projection> all{{"q", Side::queries, true}};
    for (const auto& [k, v] : {std::pair("k", "v"), {"fine_k", "fine_v"}, {"near_k", "near_v"}}) {
      all.push_back({k, Side::keys, true, kv_heads_});
      all.push_back({v, Side::keys, false, kv_heads_});
      if (!own_) break;
    }
    return all;
  }

  /// Saves: the projections, entries, each key and value of `fine` as often as heads share it,
  /// three outputs with a log-sum for each query and head, the gates, and the choices.
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("nsa", *this, input, heads_, width_);
    const Sequences& s = input.sequences;
    require_causal_form("nsa", s);
    const HeadBlock& q = input.blocks[0];
    const Index columns = key_heads_ * width_;
    std::vector<Var> results, gates;
    Var entries;
    if (entry_count(s) > 0) {
      entries = pool_means(selection_.entries, pair_of(input.blocks, coarse), s.batch, columns);
      PatternCall call{coarse_.problem(s), {q, {entries, 0}, {entries, columns}}, {}, {}};
      results.push_back(call.attend());
      gates.push_back(coarse_gate_.forward(input.x));
    }
    const auto choice =
        pass.decide("blocks", [&] { return chooser_.choose(s, q, entries.value()); });
    results.push_back(read_blocks(s, input.blocks, choice));
    gates.push_back(fine_gate_.forward(input.x));
    const std::vector<HeadBlock> kv = pair_of(input.blocks, near);
    PatternCall call{near_.problem(s), {q, kv[0], kv[1]}, {}, {}};
    results.push_back(call.attend());
    gates.push_back(near_gate_.forward(input.x));
    return sum_gated(results, gates);
  }

  std::unique_ptr<DecodeState> begin() const override {
    auto state = std::make_unique<NsaState>();
    state->caches.resize(own_ ? 3 : 1);
    state->keys.assign(std::size_t(key_heads_), PackedRows(width_));
    return state;
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    auto& own = static_cast<NsaState&>(state);
    const Index token = append(own, input);
    Tensor x({1, Index(input.x.size())});
    std::ranges::copy(input.x, x.write().begin());
    Tensor results[3];
    for (Tensor& result : results) result = Tensor({1, heads_ * width_}, 0);
    const Index group = heads_ / key_heads_;
    for (Index g = 0; g < key_heads_; ++g) {
      std::vector<Real> sums, weights, scores;
      for (Index h = g * group; h < (g + 1) * group; ++h) {
        const PackedRows& keys = own.keys[std::size_t(g)];
        chooser_.weigh(keys, head(input, h), keys.count(), weights);
        read_entries(own, g, weights, results[coarse].write().data() + h * width_);
        EntryChoice::add(weights, sums);
      }
      const Index block = token / selection_.width;
      std::vector<std::int32_t> chosen, fine_tokens, near_tokens;
      if (selection_.chooses(block)) selection_.score(sums, block, scores);
      selection_.choose(scores, block, chosen);
      append_tokens(chosen, selection_.width, token, fine_tokens);
      for (Index t = std::max<Index>(0, token - window_ + 1); t <= token; ++t)
        near_tokens.push_back(std::int32_t(t));
      for (Index h = g * group; h < (g + 1) * group; ++h) {
        const MemberQuery query{head(input, h),      g * width_, width_,
                                key_heads_ * width_, scale_,     -1};
        attend_members(cache_of(own, fine), query, fine_tokens,
                       results[fine].write().data() + h * width_);
        attend_members(cache_of(own, near), query, near_tokens,
                       results[near].write().data() + h * width_);
      }
    }
    const Var all = sum_gated(
        {Var(results[coarse]), Var(results[fine]), Var(results[near])},
        {coarse_gate_.forward(Var(x)), fine_gate_.forward(Var(x)), near_gate_.forward(Var(x))});
    std::ranges::copy(all.value().read(), out.begin());
  }

  Cost cost(const Sequences& s) const override {
    const Index tokens = s.batch * s.queries, entries = entry_count(s);
    const bool reads_own = selection_.nearest > 0;
    Cost cost = chosen_cost(fine_problem(s), chooser_.block(s), reads_own);
    cost += pattern_cost(near_.problem(s));
    if (entries > 0) cost += pattern_cost(coarse_.problem(s));
    for (Index gate = entries > 0 ? 0 : 1; gate < 3; ++gate) {
      cost += near_gate_.cost(tokens);
      cost.saved_bytes += tokens * heads_ * Index(sizeof(Real));
    }
    cost.flops += chooser_.flops(s);
    Index kept = 2 * s.batch * entries * key_heads_ * width_;
    if (key_heads_ != heads_) kept += 2 * tokens * heads_ * width_;
    cost.saved_bytes += kept * Index(sizeof(Real));
    return cost;
  }

  void visit(autograd::Inventory& inventory) override {
    inventory.enter("coarse_gate", coarse_gate_);
    inventory.enter("fine_gate", fine_gate_);
    inventory.enter("near_gate", near_gate_);
  }

 private:
  enum Branch : std::size_t { coarse, fine, near };

  static InputMap::Form gate_from(double start) {
    return {.bias = true, .start = {autograd::Init::Law::constant, start}};
  }
  PositionBranch::Form form() const { return {heads_, kv_heads_, width_, scale_, precision_}; }
  /// Keys and values of a branch.
  std::vector<HeadBlock> pair_of(const std::vector<HeadBlock>& blocks, Branch branch) const {
    const std::size_t first = own_ ? 1 + 2 * branch : 1;
    return {blocks[first], blocks[first + 1]};
  }
  MemberCache& cache_of(NsaState& state, Branch branch) const {
    return state.caches[own_ ? std::size_t(branch) : 0];
  }
  const Real* head(const StepInput& input, Index h) const {
    return input.blocks[0].data() + h * width_;
  }
  Index entry_count(const Sequences& s) const { return selection_.entries.count(s.keys); }

  ListedProblem fine_problem(const Sequences& s) const {
    ListedProblem problem =
        chosen_problem(s, heads_, width_, scale_, chooser_.block(s), selection_.selected);
    problem.precision = precision_;
    return problem;
  }
  Var read_blocks(const Sequences& s, const std::vector<HeadBlock>& blocks,
                  const std::shared_ptr<const BlockChoice>& choice) const {
    ListedProblem problem = fine_problem(s);
    read_chosen(problem, choice, heads_ / key_heads_);
    std::vector<HeadBlock> kv = pair_of(blocks, fine);
    if (key_heads_ != heads_) kv = repeat_heads({key_heads_, heads_, width_}, kv);
    return listed_attention(problem, {}, {blocks[0], kv[0], kv[1]});
  }

  /// Appends a token and the entry that it closes; its number.
  Index append(NsaState& state, const StepInput& input) const {
    const Index row = key_heads_ * width_, token = Index(state.caches[0].keys.size()) / row;
    for (std::size_t i = 0; i < state.caches.size(); ++i) {
      const std::span<const Real> k = input.blocks[1 + 2 * i], v = input.blocks[2 + 2 * i];
      auto& cache = state.caches[i];
      cache.keys.insert(cache.keys.end(), k.begin(), k.end());
      cache.values.insert(cache.values.end(), v.begin(), v.end());
    }
    const EntryLayout& layout = selection_.entries;
    if (layout.count(token + 1) == layout.count(token)) return token;
    std::vector<Real> mean(static_cast<std::size_t>(row));
    const Index first = (token + 1 - layout.block) * row;
    mean_of_rows(state.caches[0].keys.data() + first, row, layout.block, row, mean.data());
    for (Index g = 0; g < key_heads_; ++g)
      state.keys[std::size_t(g)].append(mean.data() + g * width_);
    mean_of_rows(state.caches[0].values.data() + first, row, layout.block, row, mean.data());
    state.values.insert(state.values.end(), mean.begin(), mean.end());
    return token;
  }
  void read_entries(const NsaState& state, Index g, const std::vector<Real>& weights,
                    Real* out) const {
    for (std::size_t c = 0; c < weights.size(); ++c)
      core::simd().axpy(weights[c], state.values.data() + (Index(c) * key_heads_ + g) * width_, out,
                        width_);
    core::counters().scored_pairs.fetch_add(Index(weights.size()), std::memory_order_relaxed);
  }

  EntryChoice chooser_;
  BlockSelection selection_;
  Index window_;
  bool own_;
  Index heads_, kv_heads_, key_heads_, width_;
  core::Precision precision_;
  Real scale_;
  PositionBranch coarse_, near_;
  InputMap coarse_gate_, fine_gate_, near_gate_;
};

}  // namespace

AttentionPlan configure_nsa(core::Fields& fields, const AttentionSite&) {
  return configure<NsaSettings, NsaAttention>(fields);
}

}  // namespace weft::layers
