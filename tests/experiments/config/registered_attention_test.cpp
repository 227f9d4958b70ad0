#include "experiments/run/run_config.h"
#include "layers/attention/registry.h"

namespace weft::experiments {
namespace {

constexpr const char* config = R"(
[data]
kind = "recall"
[model]
attention = ["mine", "wide"]
[attention.wide]
kind = "mine"
scale = 0.5
)";

TEST(RegisteredAttention, is_named_by_configs_and_described_like_those_of_the_program) {
  layers::register_attention({"mine", layers::find_attention("dense")->configure});
  const RunConfig loaded = RunConfig::from_text(config, "mine.toml", {});
  for (const char* name : {"mine", "wide"})
    EXPECT_TRUE(loaded.attention.at(name).at(0).attention.make) << name;
  EXPECT_NE(key_reference().find("kind = \"mine\""), std::string::npos);
}

}  // namespace
}  // namespace weft::experiments
