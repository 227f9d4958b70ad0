#include "tests/gradient_check.h"
#include "tests/layers/attention/off_the_kink.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::language_model_gradient_test {
namespace {

// Draws what belongs to the mechanisms by its own laws, which may know of long sums.
void redraw_mechanisms(autograd::ParameterArena& arena) {
  const std::vector<Real> kept(arena.values().begin(), arena.values().end());
  arena.initialise(core::Rng(1));
  move_reaches_off_the_kink(arena);
  for (const auto& segment : arena.slots())
    if (segment.name.find(".mechanism") == std::string::npos)
      std::copy_n(kept.begin() + segment.offset, segment.size, arena.value(segment).begin());
}

// `indexed` charges a loss that holds what its index reads and learns from constant, which
// differences of the whole loss cannot follow: here it has none.
AttentionPlans plans_to_differentiate(const ModelSettings& settings) {
  AttentionPlans plans = sample_plans(settings);
  if (settings.attention[0] != "indexed") return plans;
  tests::GivenFields fields({{"loss", 0.0}});
  plans.at("indexed")[0].attention =
      find_attention("indexed")->configure(fields, settings.site(1024));
  return plans;
}

void expect_gradient(const ModelSettings& settings, Index length, bool recompute) {
  SCOPED_TRACE(describe(settings) + (recompute ? ", recomputed" : ""));
  SampleModel it(settings, plans_to_differentiate(settings), length, recompute);
  redraw_mechanisms(it.drawn.arena());
  const core::Tokens inputs = it.tokens(2, 1), targets = it.targets(2);
  tests::check_gradient(
      "loss",
      [&](const Pass& pass, const std::vector<Var>&) {
        return it.model.loss(pass, {inputs, targets}, Real(0.7));
      },
      {}, it.drawn.arena());
}

TEST(LanguageModelGradient, agrees_with_differences_in_every_form) {
  for (ModelSettings settings : every_form())
    for (const double dropout : {0.0, 0.2})
      for (const bool recompute : {false, true}) {
        settings.dropout = dropout;
        expect_gradient(settings, 9, recompute);
      }
}

TEST(LanguageModelGradient, agrees_with_differences_for_every_attention) {
  for (const AttentionEntry& entry : attention_registry()) {
    ModelSettings settings = with_attention(small_settings(), entry.kind);
    settings.dropout = 0.2;
    expect_gradient(settings, 140, false);
  }
}

}  // namespace
}  // namespace weft::layers::language_model_gradient_test
