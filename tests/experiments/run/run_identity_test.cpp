// What names a run: the settings that determine its results.
#include <gtest/gtest.h>

#include "experiments/run/run_config.h"

namespace weft::experiments::run_identity_test {
namespace {

std::string identity(const std::string& attention, const std::string& settings) {
  return RunConfig::from_text("[model]\nheads = 4\nattention = \"" + attention + "\"\n[attention." +
                                  attention + "]\n" + settings,
                              "run.toml")
      .identity();
}

TEST(RunIdentity, leaves_out_younger_settings_of_attention_while_they_do_nothing) {
  const std::string dense = identity("dense", "");
  for (const std::string nothing : {"kv_heads = 0", "qk_norm = false", "conv = 0",
                                    "norm = \"none\"", "gate = \"none\"", "sink = \"none\""})
    EXPECT_EQ(identity("dense", nothing), dense) << nothing;
  for (const std::string something : {"kv_heads = 2", "qk_norm = true", "conv = 4",
                                      "norm = \"rms\"", "gate = \"silu\"", "sink = \"learned\""})
    EXPECT_NE(identity("dense", something), dense) << something;
  EXPECT_EQ(identity("local", "first = 0"), identity("local", ""));
  EXPECT_NE(identity("local", "first = 4"), identity("local", ""));
}

// As it was when the setting was a recurrence's alone.
TEST(RunIdentity, knows_a_recurrence_without_its_convolution) {
  EXPECT_EQ(identity("gated_deltanet", "conv = 4"), identity("gated_deltanet", ""));
  EXPECT_NE(identity("gated_deltanet", "conv = 0"), identity("gated_deltanet", ""));
}

}  // namespace
}  // namespace weft::experiments::run_identity_test
