// Compressed attention (that of DeepSeek-V4, simplified): one softmax with a learned sink over a
// window of tokens and over entries, each of which summarises `ratio` tokens and exists once they
// are all there. An entry pools keys and values column by column by softmax(z + bias), z a
// projection of its own. Either all closed entries are read, or those that an index scores highest.
#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/fields.h"
#include "layers/attention/chosen/entries.h"
#include "layers/attention/chosen/index_loss.h"
#include "layers/attention/chosen/index_maps.h"
#include "layers/attention/chosen/position_branch.h"
#include "layers/attention/chosen/row_cache.h"
#include "layers/attention/chosen/soft_pool.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/key_weights.h"
#include "layers/attention/contract/normaliser.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/pattern/call.h"

namespace weft::layers {
namespace {

struct CompressedSettings {
  Index window = 128, ratio = 16, selected = 0, index_heads = 4, index_width = 32;
  SinkKind sink = SinkKind::learned;
  double loss = 1, scale = 0;

  void fields(core::Fields& field) {
    field.integer("window", window, "tokens that a query reads, itself and those before",
                  core::between(1, 65536));
    field.integer("ratio", ratio, "tokens pooled in an entry", core::between(1, 65536));
    field.integer("selected", selected, "entries that a query reads; 0: all complete ones",
                  core::between(0, 65536));
    field.integer("index_heads", index_heads, "with selected > 0: heads of the index",
                  core::between(1, 1024));
    field.integer("index_width", index_width, "with selected > 0: width of an index head",
                  core::between(1, 4096));
    field.number("loss", loss, "with selected > 0: weight of the index's loss", core::at_least(0));
    field.added("sink", "\"none\"");
    field.choice("sink", sink, "learned: a logit for each head that takes weight and has no value",
                 {{"learned", SinkKind::learned}, {"none", SinkKind::none}});
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
  }

  AttentionTraits traits() const {
    return {.summary = "softmax over a window and pooled entries, all of them or the best",
            .bidirectional = false,
            .cross = false,
            .adaptive = true,
            .bf16 = selected == 0,
            .keys_per_token = selected > 0
                                  ? core::message_of(window, " and ", selected, " entries")
                                  : core::message_of(window, " and an entry for every ", ratio),
            .decode_state = core::message_of(window, " keys and values, and an entry for every ",
                                             ratio, " tokens")};
  }
};

struct CompressedState final : CopiedState<CompressedState> {
  RowRing keys, values;            ///< the window
  RowRing open_k, open_v, open_z;  ///< rows of the entry that is still open
  RowRing open_x;                  ///< inputs of those rows, for the index
  std::vector<Real> entries;       ///< [E, 2 G D], keys and values
  PackedRows index_keys;
  Index tokens = 0;

  CompressedState(const CompressedSettings& s, Index columns, Index inputs)
      : keys(s.window, columns),
        values(s.window, columns),
        open_k(s.ratio, columns),
        open_v(s.ratio, columns),
        open_z(s.ratio, columns),
        open_x(s.ratio, inputs),
        index_keys(s.index_width) {}

  Index bytes() const override {
    Index total = Index(entries.size() * sizeof(Real)) + index_keys.bytes();
    for (const RowRing* ring : {&keys, &values, &open_k, &open_v, &open_z, &open_x})
      total += ring->bytes();
    return total;
  }
};

class CompressedAttention final : public Attention, public SumsValues {
 public:
  CompressedAttention(const CompressedSettings& settings, const AttentionSite& site)
      : settings_(settings),
        heads_(site.heads),
        kv_heads_(site.kv_heads),
        key_heads_(site.key_heads()),
        width_(site.head_width),
        scale_(settings.scale > 0 ? Real(settings.scale) : Real(1 / std::sqrt(double(width_)))),
        pool_{settings.ratio, key_heads_ * width_},
        branch_(
            {heads_, kv_heads_, width_, scale_, site.precision},
            [pool = pool_](Index tokens) { return pool.entries(tokens) + tokens; },
            [pool = pool_, window = settings.window](Index tokens) {
              return united(stair_pattern([pool](Index query) { return pool.entries(query + 1); }),
                            window_behind(pool.entries(tokens), window));
            }),
        bias_({settings.ratio, key_heads_ * width_}, autograd::Init::zeros()),
        sinks_({heads_}, autograd::Init::zeros()) {
    if (settings.selected > 0)
      maps_ = std::make_unique<IndexMaps>(site.width, settings.index_heads, settings.index_width);
    inputs_ = maps_ ? site.width : 0;
  }

  /// The weights of pooling are neither turned nor normed, as values are.
  std::vector<Projection> projections() const override {
    using Side = Projection::Side;
    return {{"q", Side::queries, true},
            {"k", Side::keys, true, kv_heads_},
            {"v", Side::keys, false, kv_heads_},
            {"pool_v", Side::keys, false, kv_heads_}};
  }

  /// Saves: the projections, entries and tokens side by side, the output, a log-sum for each query
  /// and head; with an index what it makes and the choices.
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("compressed", *this, input, heads_, width_);
    const Sequences& s = input.sequences;
    require_causal_form("compressed", s);
    const Var joined = pool_.join({input.blocks[1], input.blocks[2], input.blocks[3]},
                                  autograd::as_variable(pass, bias_), s.batch);
    const std::vector<HeadBlock> blocks{input.blocks[0], {joined, 0}, {joined, pool_.columns}};
    const Var sinks = has_sinks() ? autograd::as_variable(pass, sinks_) : Var();
    if (maps_ && pool_.entries(s.keys) > 0) return read_best(pass, input, blocks, sinks);
    PatternCall call{branch_.problem(s), blocks, {}, {}};
    call.sinks = sinks;
    return call.attend();
  }

  Var weigh(const Pass& pass, AttentionInput input, const HeadBlock& values) const override {
    input.blocks[2] = values;
    return forward(pass, input);
  }
  /// Entries are pooled column by column.
  bool weighs_columns() const override { return true; }

  std::unique_ptr<DecodeState> begin() const override {
    return std::make_unique<CompressedState>(settings_, pool_.columns, inputs_);
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    auto& own = static_cast<CompressedState&>(state);
    append(own, input);
    const std::vector<std::int32_t> entries = choose(own, input);
    for (Index h = 0; h < heads_; ++h) {
      const Index first = h * key_heads_ / heads_ * width_;
      std::vector<KeyValue> rows;
      for (const Index c : entries) {
        const Real* entry = own.entries.data() + c * 2 * pool_.columns + first;
        rows.push_back({entry, entry + pool_.columns});
      }
      for (Index i = 0; i < own.keys.count(); ++i)
        rows.push_back({own.keys.row(i) + first, own.values.row(i) + first});
      attend_rows(input.blocks[0].data() + h * width_, width_, scale_,
                  has_sinks() ? sinks_.data() + h : nullptr, rows, out.data() + h * width_);
    }
  }

  /// That of a training step: an evaluation has no loss of the index.
  Cost cost(const Sequences& s) const override {
    const Index entries = pool_.entries(s.keys);
    Cost cost;
    if (!maps_ || entries == 0) {
      cost = pattern_cost(branch_.problem(s));
    } else {
      Index pairs = 0, chosen = 0, choosing = 0;
      for (Index b = 0; b < s.batch; ++b)
        for (Index t = 0; t < s.real_keys(b); ++t) {
          const Index closed = pool_.entries(t + 1);
          chosen += std::min(closed, settings_.selected);
          pairs += std::min(t + 1, settings_.window) + std::min(closed, settings_.selected);
          choosing += maps_->index().flops(closed, settings_.selected);
        }
      cost = gathered_cost(problem_of(s), pairs);
      const Cost maps = maps_->cost(s.batch * s.queries, s.batch * entries);
      cost.flops += maps.flops + choosing;
      if (settings_.loss > 0) {
        cost.backward_flops += maps.backward_flops;
        cost.saved_bytes += maps.saved_bytes + s.batch * entries * inputs_ * Index(sizeof(Real));
        cost += IndexLoss{maps_->index(), problem_of(s), {}, {}, {}}.cost(chosen);
      }
    }
    cost.saved_bytes += 2 * s.batch * (entries + s.keys) * pool_.columns * Index(sizeof(Real));
    return cost;
  }

  void visit(autograd::Inventory& inventory) override {
    inventory.add("pool_bias", bias_);
    if (has_sinks()) inventory.add("sinks", sinks_);
    if (maps_) inventory.enter("index", *maps_);
  }

 private:
  bool has_sinks() const { return settings_.sink == SinkKind::learned; }
  /// Entries that query t may read: none for padding.
  Index closed(const Sequences& s, Index b, Index t) const {
    return t < s.real_keys(b) ? pool_.entries(t + 1) : 0;
  }
  /// Of queries that read chosen entries and their window.
  GatheredProblem problem_of(const Sequences& s) const {
    const Index entries = pool_.entries(s.keys);
    return {.sequences = {s.batch, s.queries, entries + s.keys, false},
            .heads = heads_,
            .key_heads = key_heads_,
            .head_width = width_,
            .scale = scale_,
            .read = nullptr,
            .most = std::min(settings_.selected, entries) + std::min(settings_.window, s.keys)};
  }

  Var read_best(const Pass& pass, const AttentionInput& input, const std::vector<HeadBlock>& blocks,
                const Var& sinks) const {
    const Sequences s = input.sequences;
    const bool learns = settings_.loss > 0 && pass.training();
    const Tensor means =
        pool_means({pool_.ratio, pool_.ratio}, {{Var(input.x.value()), 0}}, s.batch, inputs_)
            .value();
    const IndexRows rows = maps_->forward(learns ? pass : Pass(), input.x.value(), means);
    const auto choice = pass.decide("entries", [&] {
      return maps_->index().choose(rows, s.batch, settings_.selected,
                                   [&](Index b, Index t) { return closed(s, b, t); });
    });
    GatheredProblem problem = problem_of(s);
    const auto read_entries = [choice](Index b, Index t, std::vector<std::int32_t>& to) {
      const auto own = choice->of(b, t);
      to.insert(to.end(), own.begin(), own.end());
    };
    problem.read = [=, first = pool_.entries(s.keys), window = settings_.window](
                       Index b, Index t, std::vector<std::int32_t>& to) {
      if (t >= s.real_keys(b)) return;
      read_entries(b, t, to);
      for (Index j = std::max<Index>(0, t - window + 1); j <= t; ++j)
        to.push_back(std::int32_t(first + j));
    };
    const Gathered read = gathered_attention(problem, blocks, sinks);
    if (!learns) return read.out;
    problem.read = read_entries;
    Index reading = 0;
    for (Index b = 0; b < s.batch; ++b)
      reading += std::max<Index>(0, s.real_keys(b) - pool_.ratio + 1);
    const IndexLoss loss{maps_->index(), problem,        blocks[0], blocks[1],
                         read.log_sums,  settings_.loss, reading};
    return autograd::penalise(pass, read.out, loss.of(rows));
  }

  /// Appends a token, and the entry that it closes.
  void append(CompressedState& own, const StepInput& input) const {
    own.keys.append(input.blocks[1]);
    own.values.append(input.blocks[2]);
    own.open_k.append(input.blocks[1]);
    own.open_v.append(input.blocks[2]);
    own.open_z.append(input.blocks[3]);
    if (maps_) own.open_x.append(input.x);
    if (++own.tokens % pool_.ratio != 0) return;
    // The rings hold as many rows as an entry has, so their rows begin where their memory does.
    const Index columns = pool_.columns, before = Index(own.entries.size());
    own.entries.resize(std::size_t(before + 2 * columns));
    Real* to = own.entries.data() + before;
    pool_.pool({{own.open_k.row(0), columns},
                {own.open_v.row(0), columns},
                {own.open_z.row(0), columns},
                bias_.data()},
               to, to + columns);
    if (!maps_) return;
    Tensor mean({1, inputs_});
    mean_of_rows(own.open_x.row(0), inputs_, pool_.ratio, inputs_, mean.write().data());
    own.index_keys.append(maps_->forward(Pass(), mean, mean).k.value().data());
  }

  std::vector<std::int32_t> choose(const CompressedState& own, const StepInput& input) const {
    const Index count = Index(own.entries.size()) / (2 * pool_.columns);
    const Index selected = maps_ ? settings_.selected : count;
    std::vector<Real> scores(static_cast<std::size_t>(count));
    if (count > selected) {
      Tensor x({1, inputs_});
      std::ranges::copy(input.x, x.write().begin());
      const IndexRows rows = maps_->forward(Pass(), x, x);
      maps_->index().score(own.index_keys, rows.queries(0), rows.w.value().data(), count, scores);
    }
    std::vector<std::int32_t> chosen;
    append_best(scores, selected, chosen);
    return chosen;
  }

  CompressedSettings settings_;
  Index heads_, kv_heads_, key_heads_, width_, inputs_ = 0;
  Real scale_;
  SoftPool pool_;
  PositionBranch branch_;
  autograd::Parameter bias_;   ///< of pooling, [ratio, G D]
  autograd::Parameter sinks_;  ///< [H]
  std::unique_ptr<IndexMaps> maps_;
};

}  // namespace

AttentionPlan configure_compressed(core::Fields& fields, const AttentionSite&) {
  return configure<CompressedSettings, CompressedAttention>(fields);
}

}  // namespace weft::layers
