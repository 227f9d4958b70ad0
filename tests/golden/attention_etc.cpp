#include "core/counters.h"
#include "core/error.h"
#include "layers/attention/global_local/attention.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"
#include "tests/golden/pattern_atoms.h"

namespace weft::golden {
namespace {

layers::GlobalLocalSettings global_local_settings(const Case& golden) {
  const std::string share = golden.text("share");
  core::require(share == "qkv" || share == "kv" || share == "none",
                "attention.etc: there is no sharing '", share, "'");
  layers::GlobalLocalSettings settings;
  settings.rules.clip = golden.integer("clip");
  settings.rules.hard_l2g = golden.flag("hard_l2g");
  settings.rules.hard_g2l = golden.flag("hard_g2l");
  settings.rules.spare_labels = golden.shape("in/long_a")[0] - settings.rules.labels();
  settings.share = share == "qkv"  ? layers::SideSharing::all
                   : share == "kv" ? layers::SideSharing::own_set
                                   : layers::SideSharing::nothing;
  return settings;
}

/// Who belongs to whom in each sequence of a case.
std::vector<layers::GlobalLocalStructure> structures_of(const Case& golden) {
  const Index batch = golden.shape("in/q")[0], rows = golden.shape("in/q")[2];
  const Index globals = golden.integer("globals"), tokens = rows - globals;
  const auto part = [](const std::vector<std::int32_t>& all, Index b, Index each) {
    return std::vector<Index>(all.begin() + b * each, all.begin() + (b + 1) * each);
  };
  std::vector<layers::GlobalLocalStructure> structures;
  for (Index b = 0; b < batch; ++b) {
    layers::GlobalLocalStructure own{globals, tokens, {}};
    if (golden.has("in/sentence")) own.sentence = part(golden.integers("in/sentence"), b, tokens);
    if (golden.has("in/context")) own.context = part(golden.integers("in/context"), b, globals);
    own.example = part(golden.integers("in/example"), b, rows);
    structures.push_back(std::move(own));
  }
  return structures;
}

/// The mechanism over the structures of a case.
class GivenStructures final : public layers::Attention {
 public:
  GivenStructures(const Case& golden, const layers::Pattern& local)
      : structures_(structures_of(golden)),
        inner_(
            global_local_settings(golden),
            {.heads = golden.shape("in/q")[1], .head_width = golden.shape("in/q")[3]},
            [local] { return std::vector<layers::Pattern>{local}; }, nullptr) {}

  std::vector<layers::Projection> projections() const override { return inner_.projections(); }
  autograd::Var forward(const autograd::Pass& pass,
                        const layers::AttentionInput& input) const override {
    return inner_.attend(pass, input, structures_);
  }
  std::unique_ptr<layers::DecodeState> begin() const override { return inner_.begin(); }
  void step(layers::DecodeState& state, const layers::StepInput& input,
            std::span<Real> out) const override {
    inner_.step(state, input, out);
  }
  layers::Cost cost(const layers::Sequences& sequences) const override {
    return inner_.cost(sequences);
  }
  void visit(autograd::Inventory& inventory) override { inner_.visit(inventory); }

 private:
  std::vector<layers::GlobalLocalStructure> structures_;
  layers::GlobalLocalAttention inner_;
};

}  // namespace

void attention_etc(Case& golden) {
  GivenStructures attention(golden, pattern_of(golden.text("atoms")));
  const bool has_globals = golden.integer("globals") > 0;
  const Placing none("");
  GoldenParameters parameters(
      golden, attention,
      {{"token_labels.keys", "long_a"},
       {"token_labels.bias", {"long_b", {1, 0}}},
       {"global_labels.keys", has_globals ? Placing("global_a") : none},
       {"global_labels.bias", has_globals ? Placing("global_b", {1, 0}) : none}});
  Index before = 0;
  replay_attention(golden, attention, false,
                   {.before =
                        [&](const autograd::Pass&, autograd::Journal&) {
                          parameters.zero_gradients();
                          before = core::counters().scored_pairs;
                        },
                    .after =
                        [&](const autograd::Pass&, autograd::Journal&) {
                          const Index heads = golden.shape("in/q")[1];
                          const Real pairs = Real((core::counters().scored_pairs - before) / heads);
                          golden.compare("state/pairs", {&pairs, 1});
                          parameters.compare_gradients(golden);
                        }});
}

}  // namespace weft::golden
