#include <cstdlib>

#include "experiments/run/run_config.h"
#include "layers/attention/registry.h"

namespace weft::experiments::registered_attention_test {
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

// The registry keeps what it was given, so this runs in a process of its own.
[[noreturn]] void register_and_load() {
  layers::register_attention({"mine", layers::find_attention("dense")->configure});
  const RunConfig loaded = RunConfig::from_text(config, "mine.toml", {});
  bool found = key_reference().find("kind = \"mine\"") != std::string::npos;
  for (const char* name : {"mine", "wide"})
    found = found && loaded.attention.at(name).at(0).attention.make;
  std::_Exit(found ? 0 : 1);  // what ends at exit belongs to the process that forked
}

TEST(RegisteredAttention, is_named_by_configs_and_described_like_those_of_the_program) {
  EXPECT_EXIT(register_and_load(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::experiments::registered_attention_test
