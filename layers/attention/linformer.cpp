// Linformer attention: keys and values are projected along the sequence to a fixed number of slots,
// k' = E k and v' = F v, and queries read those: out_i = sum_s over_slots_s(scale q_i . k'_s) v'_s.
// Every slot mixes all positions, so there is no causal form and no decoding.
#include <algorithm>
#include <cmath>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/fields.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/heads.h"
#include "layers/attention/contract/shared_tables.h"
#include "layers/attention/pattern/attention.h"

namespace weft::layers {
namespace {

using autograd::Parameter;

struct LinformerSettings {
  enum class Sharing { none, headwise, key_value, layerwise };

  Index slots = 128;
  Sharing sharing = Sharing::headwise;
  ScoreSettings scores;

  void fields(core::Fields& field) {
    field.integer("slots", slots, "rows that keys and values are projected to",
                  core::between(1, 65536));
    field.choice("sharing", sharing,
                 "what shares a projection: none, nothing; headwise, all heads of a layer; "
                 "key_value, also their keys and values; layerwise, all layers",
                 {{"none", Sharing::none},
                  {"headwise", Sharing::headwise},
                  {"key_value", Sharing::key_value},
                  {"layerwise", Sharing::layerwise}});
    scores.fields(field);
  }

  AttentionTraits traits() const {
    return {.summary = "softmax over keys and values projected to a fixed number of slots",
            .causal = false,
            .exact = false,
            .adaptive = !scores.normaliser.is_softmax(),
            .bf16 = scores.normaliser.is_softmax(),
            .queries_alone = true,
            .keys_per_token = core::message_of(slots, " mixtures of all"),
            .decode_state = "nothing, it cannot decode"};
  }
};

void zero(const core::Matrix& m) {
  for (Index r = 0; r < m.rows; ++r) std::fill_n(m.data + r * m.stride, m.cols, Real(0));
}

/// A projection along the length, E: one for all heads or one for each.
class LengthTable {
 public:
  LengthTable(const Parameter& table, Index columns)
      : table_(table),
        groups_(table.shape().rank() == 3 ? table.shape()[0] : 1),
        slots_(table.shape()[table.shape().rank() - 2]),
        longest_(table.shape().back()),
        columns_(columns / groups_) {}

  Index slots() const { return slots_; }

  /// to = E x.  x: [n, H D] -> to: [slots, H D]
  void apply(const core::ConstMatrix& x, const core::Matrix& to) const {
    if (x.rows == 0) return zero(to);
    for (Index g = 0; g < groups_; ++g)
      core::parallel_gemm(1, weights(g, x.rows), columns(x, g), 0, columns(to, g));
  }
  /// dx = E^T d, dE += d x^T
  void pull_back(const core::ConstMatrix& x, const core::ConstMatrix& d,
                 const core::Matrix& dx) const {
    for (Index g = 0; x.rows > 0 && g < groups_; ++g) {
      core::parallel_gemm(1, core::transposed(weights(g, x.rows)), columns(d, g), 0,
                          columns(dx, g));
      if (table_.gradient().empty()) continue;
      const core::Matrix to{table_.gradient().data() + g * slots_ * longest_, slots_, x.rows,
                            longest_};
      core::parallel_gemm(1, columns(d, g), core::transposed(columns(x, g)), 1, to);
    }
  }

 private:
  core::ConstMatrix weights(Index g, Index n) const {
    return {table_.data() + g * slots_ * longest_, slots_, n, longest_};
  }
  template <class Any>
  Any columns(const Any& x, Index g) const {
    return {x.data + g * columns_, x.rows, columns_, x.stride};
  }

  const Parameter& table_;
  Index groups_, slots_, longest_, columns_;
};

/// The real rows of sequence b, or the padding after them.
struct Rows {
  const Sequences& sequences;
  Index columns;

  core::ConstMatrix of(ConstHeads x, Index b) const {
    return {x.data + b * sequences.keys * x.stride, sequences.real_keys(b), columns, x.stride};
  }
  core::Matrix of(Heads x, Index b) const {
    return {x.data + b * sequences.keys * x.stride, sequences.real_keys(b), columns, x.stride};
  }
  core::Matrix padding(Heads x, Index b) const {
    return {x.data + (b * sequences.keys + sequences.real_keys(b)) * x.stride,
            sequences.keys - sequences.real_keys(b), columns, x.stride};
  }
};

/// Keys and values of every sequence projected along its length, k' = E k and v' = F v, padding
/// left out; sequences shorter than the tables use their first columns.
/// keys, values: [B m, H D], e, f: [slots, longest] or [H, slots, longest]; they may be the same
/// parameter -> [B slots, 2 H D], k' and v' side by side
/// dk = E^T dk', dE += dk' k^T, and so for values; zero where there is padding.  Saves: the
/// projections.
Var project_length(const std::vector<HeadBlock>& blocks, const Parameter& e, const Parameter& f,
                   const Sequences& sequences, Index columns) {
  const std::vector<LengthTable> tables{{e, columns}, {f, columns}};
  const Index slots = tables[0].slots();
  Tensor y({sequences.batch * slots, 2 * columns});
  const auto part = [=](auto* data, std::size_t i, Index b) {
    return data + b * slots * 2 * columns + Index(i) * columns;
  };
  Real* out = y.write().data();
  for (Index b = 0; b < sequences.batch; ++b)
    for (std::size_t i = 0; i < 2; ++i)
      tables[i].apply(Rows{sequences, columns}.of(heads_of(blocks[i]), b),
                      {part(out, i, b), slots, columns, 2 * columns});
  const HeadGradients gradients(blocks, columns);
  return autograd::record("length_projection", std::move(y), gradients.sources(), [=](Tensor dy) {
    autograd::Gradients d = gradients.allocate();
    const Rows rows{sequences, columns};
    for (std::size_t i = 0; i < 2; ++i) {
      const Heads dx = gradients.heads(d, i);
      for (Index b = 0; b < sequences.batch; ++b) {
        zero(rows.padding(dx, b));
        tables[i].pull_back(rows.of(heads_of(blocks[i]), b),
                            {part(dy.data(), i, b), slots, columns, 2 * columns}, rows.of(dx, b));
      }
    }
    return d;
  });
}

class LinformerAttention final : public Attention {
 public:
  LinformerAttention(const LinformerSettings& settings, const AttentionSite& site)
      : slots_(settings.slots),
        longest_(site.length),
        heads_(site.heads),
        columns_(site.heads * site.head_width),
        over_slots_(without_shared_heads(site), {full_pattern()}, settings.scores) {
    using Sharing = LinformerSettings::Sharing;
    const bool by_head = settings.sharing == Sharing::none;
    const core::Shape shape =
        by_head ? core::Shape{site.heads, slots_, longest_} : core::Shape{slots_, longest_};
    // Glorot's law with a gain of 1 / sqrt(2).
    const auto init = autograd::Init::uniform(std::sqrt(3.0 / double(slots_ + longest_)));
    if (settings.sharing == Sharing::layerwise && site.shared) {
      keys_ = values_ = &site.shared->lend(core::message_of("linformer", slots_), shape, init);
      return;
    }
    own_.push_back(std::make_unique<Parameter>(shape, init));
    if (by_head || settings.sharing == Sharing::headwise)
      own_.push_back(std::make_unique<Parameter>(shape, init));
    keys_ = own_.front().get();
    values_ = own_.back().get();
  }

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("linformer", *this, input, heads_, columns_ / heads_);
    const Sequences& s = input.sequences;
    core::require(!s.causal,
                  "linformer attention: its slots mix all positions, so it has no causal form");
    core::require(s.keys <= longest_, "linformer attention: ", s.keys,
                  " keys, but the projections were made for at most ", longest_);
    const Var low =
        project_length({input.blocks[1], input.blocks[2]}, *keys_, *values_, s, columns_);
    return over_slots_.forward(
        pass, {{input.blocks[0], {low, 0}, {low, columns_}}, input.x, slots_of(s)});
  }

  std::unique_ptr<DecodeState> begin() const override { refuse_decoding(); }
  void step(DecodeState&, const StepInput&, std::span<Real>) const override { refuse_decoding(); }

  Cost cost(const Sequences& s) const override {
    Cost cost = over_slots_.cost(slots_of(s));
    Index keys = 0;
    for (Index b = 0; b < s.batch; ++b) keys += s.real_keys(b);
    const Index projection = 2 * slots_ * columns_ * keys;
    cost.flops += 2 * projection;
    cost.backward_flops += 4 * projection;
    cost.saved_bytes += s.batch * slots_ * 2 * columns_ * Index(sizeof(Real));
    return cost;
  }

  void visit(autograd::Inventory& inventory) override {
    over_slots_.visit(inventory);
    if (own_.size() == 1) inventory.add("projection", *own_[0]);
    if (own_.size() != 2) return;
    inventory.add("key_projection", *own_[0]);
    inventory.add("value_projection", *own_[1]);
  }

 private:
  /// Each head has keys of its own, since heads may have tables of their own.
  static AttentionSite without_shared_heads(AttentionSite site) {
    site.kv_heads = 0;
    return site;
  }
  Sequences slots_of(const Sequences& s) const { return {s.batch, s.queries, slots_, false}; }
  [[noreturn]] static void refuse_decoding() {
    throw core::Error(
        "linformer attention cannot decode: its slots mix all positions, so every token would "
        "change all earlier outputs; generate with another attention");
  }

  Index slots_, longest_, heads_, columns_;
  PatternAttention over_slots_;
  std::vector<std::unique_ptr<Parameter>> own_;
  const Parameter *keys_, *values_;
};

}  // namespace

AttentionPlan configure_linformer(core::Fields& fields, const AttentionSite&) {
  return configure<LinformerSettings, LinformerAttention>(fields);
}

}  // namespace weft::layers
