#include "tests/experiments/program.h"
#include "tests/places.h"

namespace weft::experiments::causal_config_test {
namespace {

const std::string configs = source_dir() + "/configs/";

TEST(CausalConfig, a_mechanism_without_a_causal_form_is_refused_where_it_is_named) {
  const Program program("causal");
  const Outcome refused =
      program.run({"config", configs + "quickstart.toml", "model.attention=linformer"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("model.attention: \"linformer\""), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("model.causal = false"), std::string::npos) << refused.err;
  const Outcome allowed = program.run(
      {"config", configs + "quickstart.toml", "model.attention=linformer", "model.causal=false"});
  EXPECT_EQ(allowed.code, 0) << allowed.err;
}

TEST(CausalConfig, a_model_that_reads_the_next_token_is_not_trained_to_predict_it) {
  const Program program("causal");
  const Outcome refused = program.run({"train", configs + "mechanisms/linformer.toml"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("weft bench step"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace weft::experiments::causal_config_test
