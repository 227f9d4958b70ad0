// Attention over tokens that an index chooses (DeepSeek's sparse attention): a query reads the
// tokens up to itself with the largest index score, the same for all heads, in one softmax. The
// index has small additional heads, computed from the layer's input,
//   I_tj = sum_i w_ti max(0, q_ti . k_j / sqrt(d)) / sqrt(I),
// and learns from a separate loss: the divergence of softmax(I) from the attention weights. No
// gradient of this loss reaches the rest of the model.
#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/fields.h"
#include "layers/attention/chosen/index_loss.h"
#include "layers/attention/chosen/index_maps.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/lists/decoding.h"

namespace weft::layers {
namespace {

struct IndexedSettings {
  Index selected = 256, index_heads = 4, index_width = 32, dense_steps = 0;
  double loss = 1, scale = 0;

  void fields(core::Fields& field) {
    field.integer("selected", selected, "tokens that a query reads", core::between(1, 65536));
    field.integer("index_heads", index_heads, "heads of the index", core::between(1, 1024));
    field.integer("index_width", index_width, "width of an index head", core::between(1, 4096));
    field.number("loss", loss, "weight of the index's loss", core::at_least(0));
    field.integer(
        "dense_steps", dense_steps,
        "first steps of training, in which queries read all tokens while the index learns",
        core::at_least(0));
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
  }

  AttentionTraits traits() const {
    return {.summary = "softmax over the earlier tokens that a learned index scores highest",
            .bidirectional = false,
            .cross = false,
            .adaptive = true,
            .keys_per_token =
                core::message_of("at most ", selected, ", and a small key of each earlier token"),
            .decode_state = "every key and value, and a small key of each token"};
  }
};

struct IndexedState final : CopiedState<IndexedState> {
  explicit IndexedState(Index width) : index_keys(width) {}
  MemberCache cache;  ///< keys and values, [t, G D]
  PackedRows index_keys;

  Index bytes() const override { return cache.bytes() + index_keys.bytes(); }
};

class IndexedAttention final : public Attention {
 public:
  IndexedAttention(const IndexedSettings& settings, const AttentionSite& site)
      : settings_(settings),
        heads_(site.heads),
        kv_heads_(site.kv_heads),
        key_heads_(site.key_heads()),
        width_(site.head_width),
        scale_(settings.scale > 0 ? Real(settings.scale) : Real(1 / std::sqrt(double(width_)))),
        maps_(site.width, settings.index_heads, settings.index_width),
        steps_(Tensor({1}, 0),
               [](std::span<Real> value, std::span<const Real>) { value[0] += 1; }) {}

  std::vector<Projection> projections() const override {
    using Side = Projection::Side;
    return {{"q", Side::queries, true},
            {"k", Side::keys, true, kv_heads_},
            {"v", Side::keys, false, kv_heads_}};
  }

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("indexed", *this, input, heads_, width_);
    const Sequences& s = input.sequences;
    require_causal_form("indexed", s);
    if (settings_.dense_steps > 0) pass.propose(steps_, Tensor({1}, 1));
    const bool learns = settings_.loss > 0 && pass.training();
    const IndexRows rows = maps_.forward(learns ? pass : Pass(), input.x.value(), input.x.value());
    GatheredProblem problem = problem_of(s);
    if (!reads_all()) {
      const auto choice = pass.decide("tokens", [&] {
        return maps_.index().choose(rows, s.batch, settings_.selected,
                                    [&](Index b, Index t) { return visible(s, b, t); });
      });
      problem.read = [choice](Index b, Index t, std::vector<std::int32_t>& to) {
        const auto own = choice->of(b, t);
        to.insert(to.end(), own.begin(), own.end());
      };
    }
    const Gathered read = gathered_attention(problem, input.blocks);
    if (!learns) return read.out;
    const IndexLoss loss{maps_.index(), problem,        input.blocks[0], input.blocks[1],
                         read.log_sums, settings_.loss, real_queries(s)};
    return autograd::penalise(pass, read.out, loss.of(rows));
  }

  std::unique_ptr<DecodeState> begin() const override {
    return std::make_unique<IndexedState>(settings_.index_width);
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    auto& own = static_cast<IndexedState&>(state);
    const Index row = key_heads_ * width_;
    own.cache.keys.insert(own.cache.keys.end(), input.blocks[1].begin(), input.blocks[1].end());
    own.cache.values.insert(own.cache.values.end(), input.blocks[2].begin(), input.blocks[2].end());
    Tensor x({1, Index(input.x.size())});
    std::ranges::copy(input.x, x.write().begin());
    const IndexRows rows = maps_.forward(Pass(), x, x);
    own.index_keys.append(rows.k.value().data());
    const Index count = own.index_keys.count();
    const Index selected = reads_all() ? count : settings_.selected;
    std::vector<Real> scores(static_cast<std::size_t>(count));
    if (count > selected)
      maps_.index().score(own.index_keys, rows.queries(0), rows.w.value().data(), count, scores);
    std::vector<std::int32_t> read;
    append_best(scores, selected, read);
    for (Index h = 0; h < heads_; ++h)
      attend_members(own.cache,
                     {input.blocks[0].data() + h * width_, h * key_heads_ / heads_ * width_, width_,
                      row, scale_, -1},
                     read, out.data() + h * width_);
  }

  /// That of a training step: an evaluation has no loss of the index.
  Cost cost(const Sequences& s) const override {
    const Index tokens = s.batch * s.queries;
    Index pairs = 0, choosing = 0;
    for (Index b = 0; b < s.batch; ++b)
      for (Index t = 0; t < s.real_keys(b); ++t) {
        pairs += reads_all() ? t + 1 : std::min(t + 1, settings_.selected);
        if (!reads_all()) choosing += maps_.index().flops(t + 1, settings_.selected);
      }
    Cost cost = gathered_cost(problem_of(s), pairs);
    const Cost maps = maps_.cost(tokens, tokens);
    cost.flops += maps.flops + choosing;
    if (settings_.loss == 0) return cost;
    cost.backward_flops += maps.backward_flops;
    cost.saved_bytes += maps.saved_bytes;
    cost += IndexLoss{maps_.index(), problem_of(s), {}, {}, {}}.cost(pairs);
    return cost;
  }

  void visit(autograd::Inventory& inventory) override {
    inventory.enter("index", maps_);
    if (settings_.dense_steps > 0) inventory.add("steps", steps_);
  }

 private:
  bool reads_all() const {
    return double(steps_.value().read()[0]) < double(settings_.dense_steps);
  }
  /// Tokens that a query may read: those up to itself, none for padding.
  static Index visible(const Sequences& s, Index b, Index t) {
    return t < s.real_keys(b) ? t + 1 : 0;
  }
  static Index real_queries(const Sequences& s) {
    Index total = 0;
    for (Index b = 0; b < s.batch; ++b) total += s.real_keys(b);
    return total;
  }
  /// That reads all tokens.
  GatheredProblem problem_of(const Sequences& s) const {
    return {.sequences = s,
            .heads = heads_,
            .key_heads = key_heads_,
            .head_width = width_,
            .scale = scale_,
            .read =
                [s](Index b, Index t, std::vector<std::int32_t>& rows) {
                  for (Index j = 0; j < visible(s, b, t); ++j) rows.push_back(std::int32_t(j));
                },
            .most = reads_all() ? s.keys : std::min(s.keys, settings_.selected)};
  }

  IndexedSettings settings_;
  Index heads_, kv_heads_, key_heads_, width_;
  Real scale_;
  IndexMaps maps_;
  mutable autograd::State steps_;  ///< of training so far
};

}  // namespace

AttentionPlan configure_indexed(core::Fields& fields, const AttentionSite&) {
  return configure<IndexedSettings, IndexedAttention>(fields);
}

}  // namespace weft::layers
