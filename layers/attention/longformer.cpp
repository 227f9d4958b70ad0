// Longformer: a sliding window, on some heads with gaps, and global tokens with separate query, key
// and value projections. Tokens read a global token through the ordinary projections; a global
// token reads all tokens (in causal models all earlier ones) through the separate ones.
#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "layers/attention/pattern/attention.h"
#include "layers/attention/pattern/global_tokens.h"
#include "layers/attention/pattern/window.h"

namespace weft::layers {
namespace {

/// The value of a layer in a list that holds one for each layer, or fewer, the last repeated.
Index of_layer(const std::vector<Index>& list, Index layer) {
  return list[std::min(std::size_t(layer), list.size() - 1)];
}

struct LongformerSettings {
  std::vector<Index> window = {512};
  std::vector<Index> dilation = {1};
  Index dilated_heads = 2;
  std::vector<Index> positions;
  ScoreSettings scores;

  void fields(core::Fields& field, const AttentionSite& typical) {
    field.integers("window", window,
                   "keys that a token reads, itself included; one for each layer from the lowest, "
                   "the last one repeated",
                   core::at_least(1));
    field.integers("dilation", dilation,
                   "distance between those keys on dilated heads; one for each layer from the "
                   "lowest, the last one repeated",
                   core::at_least(1));
    field.integer("dilated_heads", dilated_heads, "how many heads are dilated", core::at_least(0));
    read_global_positions(field, positions, typical);
    scores.list_first(field);
    scores.fields(field);
    if (window.empty()) field.problem("window", "names no window");
    if (dilation.empty()) field.problem("dilation", "names no dilation; 1 means none");
    for (const Index gap : dilation) check_distance_fits(field, "dilation", gap, typical);
    if (window.empty()) window = {1};
    if (dilation.empty()) dilation = {1};
  }

  /// The window of a head, and the global tokens as everyone reads them.
  std::vector<Pattern> near(const AttentionSite& site) const {
    const Index keys = of_layer(window, site.layer), gap = of_layer(dilation, site.layer);
    std::vector<Pattern> patterns;
    for (Index head = 0; head < (gap > 1 ? site.heads : 1); ++head) {
      const Pattern both =
          scores.with_first(united(window_pattern(site, keys, head < dilated_heads ? gap : 1),
                                   global_pattern(positions, GlobalMode::columns)));
      patterns.push_back(without_rows(both, positions));
    }
    return patterns;
  }

  AttentionTraits traits(const AttentionSite& site) const {
    const Index keys = of_layer(window, site.layer), tokens = Index(positions.size());
    return {.summary = "softmax over a sliding window and global tokens with separate projections",
            .keys_per_token = core::message_of("at most ", keys + tokens,
                                               tokens > 0 ? "; a global token all before it" : ""),
            .decode_state =
                "the window and the global tokens; every key while a global token is "
                "still to come"};
  }
};

/// The states of the two parts.
struct LongformerState final : DecodeState {
  std::unique_ptr<DecodeState> near, global;
  Index bytes() const override { return near->bytes() + (global ? global->bytes() : 0); }
  std::unique_ptr<DecodeState> copy() const override {
    auto other = std::make_unique<LongformerState>();
    other->near = near->copy();
    if (global) other->global = global->copy();
    return other;
  }
};

class LongformerAttention final : public Attention {
 public:
  LongformerAttention(const LongformerSettings& settings, const AttentionSite& site)
      : near_(site, settings.near(site), settings.scores) {
    if (!settings.positions.empty())
      global_ = std::make_unique<PatternAttention>(
          site, std::vector<Pattern>{global_pattern(settings.positions, GlobalMode::rows)},
          settings.scores, near_.normaliser());
  }

  std::vector<Projection> projections() const override {
    auto all = near_.projections();
    if (!global_) return all;
    all.push_back({"global_q", Projection::Side::queries, true});
    all.push_back({"global_k", Projection::Side::keys, true, all[1].heads});
    all.push_back({"global_v", Projection::Side::keys, false, all[2].heads});
    return all;
  }

  /// Rows of global tokens come from the global part alone, all others from the near part alone.
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    const auto part = [&](std::ptrdiff_t first) {
      const auto from = input.blocks.begin() + first;
      return AttentionInput{{from, from + 3}, input.x, input.sequences};
    };
    core::require(input.blocks.size() == projections().size(), "longformer: needs ",
                  projections().size(), " projections, got ", input.blocks.size());
    const Var near = near_.forward(pass, part(0));
    return global_ ? autograd::add(near, global_->forward(pass, part(3))) : near;
  }

  std::unique_ptr<DecodeState> begin() const override {
    auto state = std::make_unique<LongformerState>();
    state->near = near_.begin();
    if (global_) state->global = global_->begin();
    return state;
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    auto& both = static_cast<LongformerState&>(state);
    near_.step(*both.near, input, out);
    if (!global_) return;
    StepInput own = input;
    own.blocks.erase(own.blocks.begin(), own.blocks.begin() + 3);
    std::vector<Real> rows(out.size());
    global_->step(*both.global, own, rows);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += rows[i];
  }

  Cost cost(const Sequences& sequences) const override {
    Cost total = near_.cost(sequences);
    if (global_) total += global_->cost(sequences);
    return total;
  }

  void visit(autograd::Inventory& inventory) override { near_.visit(inventory); }

 private:
  PatternAttention near_;
  std::unique_ptr<PatternAttention> global_;
};

}  // namespace

AttentionPlan configure_longformer(core::Fields& field, const AttentionSite& typical) {
  LongformerSettings settings;
  settings.fields(field, typical);
  const auto make = [settings](const AttentionSite& site) {
    return std::make_unique<LongformerAttention>(settings, site);
  };
  return {make, settings.scores.complete(settings.traits(typical))};
}

}  // namespace weft::layers
