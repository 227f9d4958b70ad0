// Settings of position-based mechanisms that cannot be meant.
#include "layers/attention/registry.h"
#include "tests/layers/given_fields.h"

namespace weft::layers::pattern_settings_test {
namespace {

using Numbers = std::vector<Index>;

/// The key that the mechanism complains of at a length of 256, or "" when it does not.
std::string complaint(const std::string& kind, const tests::Settings& settings) {
  tests::GivenFields fields(settings);
  find_attention(kind)->configure(fields,
                                  {.width = 64, .heads = 4, .head_width = 16, .length = 256});
  return fields.problems().empty() ? "" : fields.problems().begin()->first;
}

TEST(PatternSettings, a_window_of_nothing_is_refused) {
  for (const Index window : {0, -1, -512}) {
    EXPECT_EQ(complaint("local", {{"window", window}}), "window");
    EXPECT_EQ(complaint("dilated", {{"window", window}}), "window");
    EXPECT_EQ(complaint("longformer", {{"window", Numbers{window}}}), "window");
  }
  EXPECT_EQ(complaint("bigbird", {{"block", Index(16)}, {"window", Index(2)}}), "window");
  EXPECT_EQ(complaint("etc", {{"window", Index(2)}}), "window");
}

TEST(PatternSettings, a_global_position_past_the_length_is_refused) {
  for (const std::string kind : {"global", "longformer"}) {
    EXPECT_EQ(complaint(kind, {{"positions", Numbers{0, 255}}}), "");
    EXPECT_EQ(complaint(kind, {{"positions", Numbers{0, 256}}}), "positions");
    EXPECT_EQ(complaint(kind, {{"positions", Numbers{-1}}}), "positions");
  }
}

TEST(PatternSettings, a_stride_that_never_fires_is_refused) {
  for (const std::string kind : {"strided", "fixed"}) {
    EXPECT_EQ(complaint(kind, {{"stride", Index(128)}}), "");
    EXPECT_EQ(complaint(kind, {{"stride", Index(256)}}), "stride");
  }
  EXPECT_EQ(complaint("dilated", {{"dilation", Index(300)}}), "dilation");
  EXPECT_EQ(complaint("longformer", {{"dilation", Numbers{1, 256}}}), "dilation");
  EXPECT_EQ(complaint("fixed", {{"stride", Index(8)}, {"summary_columns", Index(9)}}),
            "summary_columns");
}

TEST(PatternSettings, more_random_blocks_than_there_are_is_refused) {
  EXPECT_EQ(complaint("random", {{"block", Index(64)}, {"blocks", Index(3)}}), "");
  EXPECT_EQ(complaint("random", {{"block", Index(64)}, {"blocks", Index(4)}}), "blocks");
  EXPECT_EQ(complaint("bigbird", {{"block", Index(32)}, {"random", Index(4)}}), "");
  EXPECT_EQ(complaint("bigbird", {{"block", Index(32)}, {"random", Index(5)}}), "random");
  EXPECT_EQ(complaint("bigbird", {{"form", "etc"}, {"block", Index(32)}, {"random", Index(6)}}),
            "random");
}

TEST(PatternSettings, an_atom_is_checked_like_the_kinds) {
  const auto atoms = [](tests::Settings atom) {
    return tests::Settings{{"atoms", std::vector<tests::Settings>{std::move(atom)}}};
  };
  EXPECT_EQ(complaint("pattern", atoms({{"kind", "band"}, {"left", Index(-1)}})), "atoms.0.left");
  EXPECT_EQ(complaint("pattern", atoms({{"kind", "strided"}, {"stride", Index(256)}})),
            "atoms.0.stride");
  EXPECT_EQ(complaint("pattern", atoms({{"kind", "global"}, {"positions", Numbers{256}}})),
            "atoms.0.positions");
  EXPECT_EQ(complaint("pattern", atoms({{"kind", "unheard"}})), "atoms.0.kind");
  EXPECT_EQ(complaint("pattern", atoms({{"kind", "random"}, {"blocks", Index(9)}})),
            "atoms.0.blocks");
}

}  // namespace
}  // namespace weft::layers::pattern_settings_test
