// Models that tell what their heads read.
#include "layers/settings/observed_plans.h"
#include "layers/settings/typical_weights.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::observed_plans_contract_test {
namespace {

constexpr Index length = 21;

ModelSettings settings_of(std::string_view kind) {
  ModelSettings settings = with_attention(small_settings(), kind);
  settings.positions = PositionKind::none;
  return settings;
}

TEST(ObservedPlans, leave_outputs_and_parameters_as_they_are) {
  for (const std::string_view kind : attention_kinds()) {
    SCOPED_TRACE(kind);
    const ModelSettings settings = settings_of(kind);
    std::vector<Observation> seen;
    const AttentionPlans plans = observed_plans(
        sample_plans(settings), [&](const Observation& own) { seen.push_back(own); });
    const SampleModel plain(settings, length), observed(settings, plans, length, false);
    const Pass pass(core::Rng(5));
    const Tensor expected = plain.model.hidden(pass, plain.tokens(2, 1)).value();
    EXPECT_TRUE(tests::same_bits(observed.model.hidden(pass, plain.tokens(2, 1)).value().read(),
                                 expected.read()));
    ASSERT_EQ(seen.size(), 2u) << "one for each layer";
    for (Index layer = 0; layer < 2; ++layer) {
      const Observation& own = seen[std::size_t(layer)];
      EXPECT_EQ(own.name, kind);
      EXPECT_EQ(own.site.layer, layer);
      EXPECT_EQ(own.weights.shape(),
                core::Shape({2, 2, own.sequences.queries, own.sequences.keys}));
    }
  }
}

TEST(ObservedPlans, tell_each_step_of_layers_that_run_again) {
  ModelSettings settings = settings_of("dense");
  settings.universal.steps = 3;
  settings.layers = 1;
  std::vector<Index> layers;
  const AttentionPlans plans = observed_plans(
      sample_plans(settings), [&](const Observation& own) { layers.push_back(own.site.layer); });
  const SampleModel it(settings, plans, length, false);
  it.model.hidden(Pass(core::Rng(5)), it.tokens(1, 1));
  EXPECT_EQ(layers, std::vector<Index>(3, 0));
}

TEST(TypicalWeights, show_what_a_pattern_reads) {
  ModelSettings settings = small_settings();
  tests::GivenFields fields({{"window", core::Index(5)}});
  const HeadGroupPlan plan = read_attention(fields, "local", settings.site(40)).at(0);
  const Observation seen = typical_weights(plan, settings.site(40), 40);
  ASSERT_EQ(seen.weights.shape(), core::Shape({1, 2, 40, 40}));
  for (Index at = 0; at < seen.weights.size(); ++at) {
    const Index i = at / 40 % 40, j = at % 40;
    EXPECT_EQ(seen.weights.data()[at] != 0, j <= i && i - j < 5) << i << " reads " << j;
  }
}

TEST(TypicalWeights, are_there_for_every_kind) {
  for (const std::string_view kind : attention_kinds()) {
    SCOPED_TRACE(kind);
    const ModelSettings settings = settings_of(kind);
    AttentionSite site = settings.site(48);
    const Observation seen =
        typical_weights(sample_plans(settings).at(std::string(kind))[0], site, 48);
    EXPECT_EQ(seen.weights.shape(),
              core::Shape({1, 2, seen.sequences.queries, seen.sequences.keys}));
    double sum = 0;
    for (const Real weight : seen.weights.read()) sum += std::abs(double(weight));
    EXPECT_GT(sum, 1);
    EXPECT_TRUE(std::isfinite(sum));
  }
}

}  // namespace
}  // namespace weft::layers::observed_plans_contract_test
