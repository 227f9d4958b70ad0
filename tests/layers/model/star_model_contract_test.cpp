#include "core/counters.h"
#include "core/error.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::star_model_contract_test {
namespace {

ModelSettings star_settings() {
  ModelSettings settings = small_settings();
  settings.trunk = TrunkKind::star;
  settings.causal = false;
  return settings;
}

TEST(StarModel, has_the_same_loss_and_gradient_when_its_cycles_run_again) {
  SampleModel kept(star_settings(), 20, false), again(star_settings(), 20, true);
  EXPECT_EQ(kept.train(), again.train());
  const auto a = kept.drawn.arena().gradients(), b = again.drawn.arena().gradients();
  tests::expect_close(b, std::vector<double>(a.begin(), a.end()), 100 * tests::epsilon);
}

TEST(StarModel, costs_what_its_kernels_count) {
  SampleModel it(star_settings(), 20);
  core::Counters& counters = core::counters();
  const Index pairs = counters.scored_pairs, flops = counters.flops;
  it.model.hidden(Pass(), it.tokens(2, 1));
  EXPECT_EQ(counters.scored_pairs - pairs, it.model.attention_cost(2).scored_pairs);
  const double output = double(it.model.matrix_weights() - it.model.layer_weights());
  const double products = it.model.rows_per_token() * double(it.model.matrix_weights()) - output;
  EXPECT_NEAR(double(counters.flops - flops),
              double(it.model.attention_cost(2).flops) + 2 * 40 * products, 1e-6);
}

TEST(StarModel, does_not_go_on_token_by_token) {
  const SampleModel it(star_settings(), 5);
  EXPECT_THROW(it.model.begin(), core::Error);
}

TEST(StarModel, has_six_cycles_and_reads_both_ways_by_default) {
  ModelSettings settings;
  tests::GivenFields fields(tests::Settings{{"trunk", "star"}});
  settings.fields(fields);
  EXPECT_EQ(settings.layers, 6);
  EXPECT_FALSE(settings.causal);
  EXPECT_TRUE(settings.attention_names().empty());
}

}  // namespace
}  // namespace weft::layers::star_model_contract_test
