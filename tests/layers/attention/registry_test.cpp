#include "layers/attention/registry.h"

#include <set>

#include "core/error.h"
#include "layers/settings/attention_plans.h"
#include "tests/layers/given_fields.h"

namespace weft::layers::registry_test {
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
    const AttentionMaker make = entry.configure(defaults, site).make;
    EXPECT_TRUE(defaults.problems().empty()) << entry.kind;
    ASSERT_TRUE(make) << entry.kind;
    const auto first = make(site), second = make(site);
    EXPECT_NE(first, second);
    EXPECT_FALSE(first->projections().empty());
  }
}

TEST(Registry, takes_a_mechanism_of_a_programs_own_and_finds_it_like_any_other) {
  const AttentionEntry& dense = *find_attention("dense");
  ASSERT_EQ(find_attention("registered"), nullptr);
  register_attention({"registered", dense.configure});
  const AttentionEntry* found = find_attention("registered");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, &attention_registry().back());
  EXPECT_EQ(attention_kinds().back(), "registered");
  EXPECT_EQ(find_attention("dense"), &dense) << "registering moved what was handed out";
  tests::GivenFields table({{"kind", std::string("registered")}});
  const AttentionSite site{.width = 12, .heads = 3, .head_width = 4, .length = 16};
  const std::vector<HeadGroupPlan> groups = read_attention(table, "mine", site);
  EXPECT_TRUE(table.problems().empty());
  EXPECT_EQ(groups.at(0).attention.traits.summary, dense.configure(table, site).traits.summary);
  ASSERT_TRUE(groups[0].attention.make);
}

std::string refusal(AttentionEntry entry) {
  const std::size_t before = attention_registry().size();
  try {
    register_attention(std::move(entry));
  } catch (const core::Error& error) {
    EXPECT_EQ(attention_registry().size(), before);
    return error.what();
  }
  return "";
}

TEST(Registry, refuses_a_name_that_is_taken_or_none_and_an_entry_without_a_function) {
  const auto configure = find_attention("dense")->configure;
  EXPECT_NE(refusal({"dense", configure}).find("take another name"), std::string::npos);
  EXPECT_NE(refusal({"", configure}).find("is no name"), std::string::npos);
  EXPECT_NE(refusal({"a.b", configure}).find("is no name"), std::string::npos);
  EXPECT_NE(refusal({"lacking", nullptr}).find("no function"), std::string::npos);
}

}  // namespace
}  // namespace weft::layers::registry_test
