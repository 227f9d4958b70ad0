#include "layers/attention/registry.h"

#include <set>

#include "tests/layers/given_fields.h"

namespace weft::layers {
namespace {

TEST(Registry, finds_each_kind_it_lists_and_no_other) {
  std::set<std::string_view> kinds;
  for (const AttentionEntry& entry : attention_registry()) {
    EXPECT_EQ(find_attention(entry.kind), &entry);
    EXPECT_TRUE(kinds.insert(entry.kind).second) << entry.kind << " is listed twice";
  }
  EXPECT_TRUE(kinds.contains("dense"));
  EXPECT_EQ(find_attention("unheard_of"), nullptr);
  EXPECT_EQ(find_attention(""), nullptr);
}

TEST(Registry, defaults_are_legal_and_a_maker_serves_every_layer) {
  const AttentionSite site{.width = 12, .heads = 3, .head_width = 4, .length = 1024};
  for (const AttentionEntry& entry : attention_registry()) {
    tests::GivenFields defaults;
    const AttentionMaker make = entry.configure(defaults, site);
    EXPECT_TRUE(defaults.problems().empty()) << entry.kind;
    ASSERT_TRUE(make) << entry.kind;
    const auto first = make(site), second = make(site);
    EXPECT_NE(first, second);
    EXPECT_FALSE(first->projections().empty());
  }
}

}  // namespace
}  // namespace weft::layers
