// BigBird by blocks: a window of blocks, random blocks drawn once, and what everyone reads and what
// reads everyone. In its form ITC those are global blocks, the first and the last; in causal use
// the last is no more global than others, since which one it is lies in the future. In its form ETC
// they are additional global tokens, with labels as in etc.cpp. Each key counts once.
#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "layers/attention/drawn/attention.h"
#include "layers/attention/global_local/attention.h"

namespace weft::layers {
namespace {

struct BigBirdSettings {
  enum class Form { itc, etc };

  Form form = Form::itc;
  DrawnBlocks::Settings drawn;
  Index window = 3;
  ScoreSettings scores;
  GlobalLocalSettings global_local;

  bool has_global_tokens() const { return form == Form::etc; }

  void fields(core::Fields& field, const AttentionSite& typical) {
    field.added("form");
    field.choice("form", form,
                 "what is global: itc, the first and the last block; etc, additional tokens",
                 {{"itc", Form::itc}, {"etc", Form::etc}});
    field.integer("window", window, "blocks of the window, its own in the middle: 1, 3, 5, ...",
                  core::at_least(1));
    if (has_global_tokens()) drawn = {.block = 84, .count = 0};
    const Index ends = typical.causal ? 1 : 2;
    drawn.fields(field, "random", typical, window + (has_global_tokens() ? 0 : ends));
    field.when("form", {"itc"}, [&] {
      scores.list_first(field);
      scores.fields(field);
    });
    field.when("form", {"etc"}, [&] { global_local.fields(field); });
    if (window % 2 == 0)
      field.problem("window", "an even number of blocks has no middle; take an odd one");
  }

  AttentionTraits traits() const {
    if (has_global_tokens())
      return global_local_traits(
          "softmax over a window of blocks, blocks drawn once, and additional global tokens",
          (window + drawn.count) * drawn.block, global_local);
    return scores.complete(
        {.summary = "softmax over a window of blocks, global blocks and blocks drawn once",
         .keys_per_token = core::message_of("at most ", (window + 2 + drawn.count) * drawn.block,
                                            "; a global block's all"),
         .decode_state = "the first block, the window, and drawn blocks until their last reader"});
  }
};

/// Positions of the first block and, where attention reads both ways, of the last.
std::vector<Index> global_positions(const AttentionSite& site, Index block) {
  std::vector<Index> positions(std::size_t(std::min(block, site.length)));
  std::iota(positions.begin(), positions.end(), 0);
  const Index last = (site.length - 1) / block * block;
  if (!site.causal)
    for (Index p = last; p < site.length; ++p) positions.push_back(p);
  return positions;
}

/// The form ETC with blocks that were drawn, which are a State.
class DrawnGlobalLocal final : public Attention {
 public:
  DrawnGlobalLocal(const BigBirdSettings& settings, const AttentionSite& site, Pattern near)
      : near_(std::move(near)),
        heads_(site.heads),
        drawn_(site, settings.drawn, near_),
        inner_(
            settings.global_local, site, [this] { return patterns(); }, plans_) {}

  std::vector<Projection> projections() const override { return inner_.projections(); }
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    return current().forward(pass, input);
  }
  std::unique_ptr<DecodeState> begin() const override { return inner_.begin(); }
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    inner_.step(state, input, out);
  }
  Cost cost(const Sequences& sequences) const override { return current().cost(sequences); }
  void visit(autograd::Inventory& inventory) override {
    inventory.add("random_blocks", drawn_.table());
    inner_.visit(inventory);
  }

 private:
  std::vector<Pattern> patterns() const {
    std::vector<Pattern> of_heads;
    for (Index head = 0; head < heads_; ++head)
      of_heads.push_back(united(near_, drawn_.of_head(head)));
    return of_heads;
  }
  /// With plans of the table's present blocks: a checkpoint may bring others.
  const GlobalLocalAttention& current() const {
    const std::span<const Real> table = drawn_.table().read();
    if (!std::ranges::equal(planned_, table)) plans_->clear();
    planned_.assign(table.begin(), table.end());
    return inner_;
  }

  Pattern near_;
  Index heads_;
  DrawnBlocks drawn_;
  std::shared_ptr<PlanCache> plans_ = std::make_shared<PlanCache>();
  GlobalLocalAttention inner_;
  mutable std::vector<Real> planned_;
};

AttentionPlan plan_with_global_tokens(const BigBirdSettings& settings) {
  const auto make = [settings, plans = std::make_shared<PlanCache>()](
                        const AttentionSite& site) -> std::unique_ptr<Attention> {
    const Index side = settings.window / 2;
    const Pattern near = block_local_pattern(settings.drawn.block, side, side);
    if (settings.drawn.count > 0) return std::make_unique<DrawnGlobalLocal>(settings, site, near);
    return std::make_unique<GlobalLocalAttention>(
        settings.global_local, site, [near] { return std::vector<Pattern>{near}; }, plans);
  };
  return {.make = make,
          .traits = settings.traits(),
          .rows = std::make_shared<GlobalRows>(settings.global_local.globals)};
}

}  // namespace

AttentionPlan configure_bigbird(core::Fields& field, const AttentionSite& typical) {
  BigBirdSettings settings;
  settings.fields(field, typical);
  if (settings.has_global_tokens()) return plan_with_global_tokens(settings);
  const auto make = [settings](const AttentionSite& site) {
    const Index block = settings.drawn.block, side = settings.window / 2;
    Pattern others = united(block_local_pattern(block, side, side),
                            global_pattern(global_positions(site, block), GlobalMode::both));
    return std::make_unique<DrawnAttention>(site, settings.scores.with_first(std::move(others)),
                                            settings.drawn, settings.scores);
  };
  return {make, settings.traits()};
}

}  // namespace weft::layers
