#include "layers/multi_head/head_fittings.h"

#include "core/error.h"
#include "layers/attention/fittings/head_norm.h"
#include "layers/attention/fittings/shared_heads.h"

namespace weft::layers {
namespace {

using Activation = GatedNormForm::Activation;

/// Of the norm of queries and keys.
constexpr Real norm_eps = Real(1e-6);

/// The last rows under the convolution, oldest first.
struct LastRows final : CopiedState<LastRows> {
  explicit LastRows(Index size) : rows(std::size_t(size), Real(0)) {}
  Index bytes() const override { return Index(rows.size() * sizeof(Real)); }
  std::vector<Real> rows;
};

/// Queries or keys, not values.
bool is_compared(const Projection& projection) { return !projection.name.ends_with('v'); }

bool is_keyed(const Projection& projection) { return projection.side == Projection::Side::keys; }

}  // namespace

void FittingSettings::fields(core::Fields& field, const AttentionTraits& traits, Index heads) {
  field.added("kv_heads");
  field.integer("kv_heads", kv_heads,
                "heads of keys and values, a divisor of heads: neighbouring heads share one; 0: "
                "each head has its own",
                core::at_least(0));
  if (!traits.convolves) {
    for (const char* const key : {"qk_norm", "conv"}) field.added(key);
    field.flag("qk_norm", qk_norm,
               "queries and keys are divided by their root mean square, with a learned gain");
    list_conv(field, conv);
  }
  if (!traits.gates_output) {
    for (const char* const key : {"norm", "gate"}) field.added(key);
    field.choice("norm", norm, "norm of each head's output",
                 {{"none", OutputNorm::none}, {"rms", OutputNorm::rms}});
    field.choice(
        "gate", gate, "the heads' outputs are multiplied by a gate computed from the input",
        {{"none", Activation::none}, {"silu", Activation::silu}, {"sigmoid", Activation::sigmoid}});
  }
  if (kv_heads > 0 && heads % kv_heads != 0)
    field.problem("kv_heads", core::message_of(kv_heads, " heads of keys and values cannot serve ",
                                               heads, " heads evenly; take a divisor"));
  if (traits.separate_keys) return;
  constexpr auto why =
      "its keys are its queries or its own, not a projection that heads could share or norm: ";
  if (kv_heads > 0) field.problem("kv_heads", core::message_of(why, "0"));
  if (qk_norm) field.problem("qk_norm", core::message_of(why, "false"));
}

HeadFittings::HeadFittings(const FittingSettings& settings,
                           const std::vector<Projection>& projections, const AttentionSite& site,
                           bool repeats)
    : settings_(settings),
      projections_(projections),
      heads_(site.heads),
      width_(site.head_width),
      repeats_(repeats) {
  const auto gain = [&] { return autograd::Parameter({width_}, autograd::Init::ones()); };
  std::vector<ShortConvolution::Part> parts;
  for (std::size_t i = 0; i < projections_.size(); ++i) {
    parts.push_back({"conv_" + std::string(projections_[i].name), columns(i)});
    input_gains_.emplace_back();
    if (settings.qk_norm && is_compared(projections_[i])) input_gains_.back().emplace(gain());
  }
  if (settings.conv > 0) conv_.emplace(parts, settings.conv);
  if (settings.norm == OutputNorm::rms) output_gain_.emplace(gain());
  if (settings.gate != Activation::none)
    gate_.emplace(site.width, heads_ * width_, InputMap::Form{});
}

std::vector<HeadBlock> HeadFittings::convolve(const std::vector<HeadBlock>& blocks,
                                              Index length) const {
  return conv_ ? conv_->forward(blocks, length) : blocks;
}

std::vector<HeadBlock> HeadFittings::normalise(const std::vector<HeadBlock>& blocks) const {
  std::vector<HeadBlock> all = blocks;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (input_gains_[i])
      all[i] = {norm_heads(blocks[i], columns(i) / width_, *input_gains_[i], norm_eps), 0};
  return all;
}

std::vector<HeadBlock> HeadFittings::repeat(const std::vector<HeadBlock>& blocks) const {
  if (!repeats_) return blocks;
  std::vector<HeadBlock> all = blocks, shared;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_keyed(projections_[i])) shared.push_back(blocks[i]);
  shared = repeat_heads({settings_.kv_heads, heads_, width_}, shared);
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_keyed(projections_[i])) all[i] = shared[next++];
  return all;
}

Var HeadFittings::finish(const Var& heads, const Var& x) const {
  if (!output_gain_) return gated() ? gate_heads(settings_.gate, heads, gate_->forward(x)) : heads;
  return gated_norm({.activation = settings_.gate}, heads, gated() ? gate_->forward(x) : Var(),
                    *output_gain_);
}

std::unique_ptr<DecodeState> HeadFittings::begin() const {
  return conv_ ? std::make_unique<LastRows>(conv_->past_size()) : nullptr;
}

std::vector<std::vector<Real>> HeadFittings::step(DecodeState* state, const Tensor& packed) const {
  Tensor row = packed;
  if (conv_) {
    row = Tensor(packed.shape());
    std::vector<std::span<const Real>> spans;
    std::span<const Real> rest = packed.read();
    for (std::size_t i = 0; i < projections_.size(); ++i) {
      spans.push_back(rest.first(std::size_t(columns(i))));
      rest = rest.subspan(std::size_t(columns(i)));
    }
    conv_->step(spans, static_cast<LastRows&>(*state).rows, row.write());
  }
  std::vector<HeadBlock> blocks;
  Index first = 0;
  for (std::size_t i = 0; i < projections_.size(); first += columns(i++))
    blocks.push_back({Var(row), first});
  blocks = normalise(blocks);
  std::vector<std::vector<Real>> rows;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Real* from = heads_of(blocks[i]).data;
    rows.emplace_back(from, from + columns(i));
  }
  return rows;
}

void HeadFittings::repeat(std::vector<std::vector<Real>>& rows) const {
  for (std::size_t i = 0; repeats_ && i < rows.size(); ++i)
    if (is_keyed(projections_[i]))
      rows[i] = repeat_heads({settings_.kv_heads, heads_, width_}, rows[i]);
}

/// Saves: the outputs of the convolution, of the norms and of repeating, and what norm and gate
/// after the mechanism read.
Cost HeadFittings::cost(const Sequences& s) const {
  const Index tokens = s.batch * s.queries;
  Cost cost;
  Index kept = 0;  // numbers
  for (std::size_t i = 0; i < projections_.size(); ++i) {
    const bool keyed = is_keyed(projections_[i]);
    const Index rows = s.batch * (keyed ? s.keys : s.queries);
    if (input_gains_[i]) kept += rows * columns(i);
    if (repeats_ && keyed) kept += rows * heads_ * width_;
  }
  if (conv_) cost.saved_bytes += conv_->bytes(tokens);
  if (output_gain_ || gated()) kept += tokens * heads_ * width_ * (gated() ? 2 : 1);
  if (gated()) cost += gate_->cost(tokens);
  cost.saved_bytes += kept * Index(sizeof(Real));
  return cost;
}

void HeadFittings::visit(autograd::Inventory& inventory) {
  if (conv_) conv_->visit(inventory);
  for (std::size_t i = 0; i < input_gains_.size(); ++i)
    if (input_gains_[i])
      inventory.add(std::string(projections_[i].name) + "_gain", *input_gains_[i]);
  if (gate_) inventory.enter("gate", *gate_);
  if (output_gain_) inventory.add("gain", *output_gain_);
}

}  // namespace weft::layers
