#include "layers/settings/attention_plans.h"

#include "tests/layers/given_fields.h"

namespace weft::layers::attention_plans_test {
namespace {

using tests::GivenFields;
using tests::Settings;
using Names = std::vector<std::string>;

// The plan of [attention.NAME], its problems in `fields`.
std::vector<HeadGroupPlan> plan(GivenFields& fields, const std::string& name) {
  return read_attention(fields, name, {.width = 24, .heads = 4, .head_width = 6, .length = 50});
}

TEST(ReadAttention, takes_the_name_for_the_kind_unless_one_is_given) {
  GivenFields plain;
  const auto by_name = plan(plain, "dense");
  ASSERT_EQ(by_name.size(), 1u);
  EXPECT_EQ(by_name[0].heads, 4);
  EXPECT_TRUE(by_name[0].attention.make);
  EXPECT_TRUE(plain.problems().empty());
  EXPECT_EQ(plain.visited(), (Names{"projection", "groups", "kind", "scale", "normaliser", "sink",
                                    "kv_heads", "qk_norm", "conv", "norm", "gate"}));
  GivenFields named({{"kind", std::string("dense")}});
  EXPECT_TRUE(plan(named, "wide")[0].attention.make);
  EXPECT_TRUE(named.problems().empty());
}

TEST(ReadAttention, refuses_a_name_that_is_no_mechanism) {
  GivenFields fields;
  EXPECT_FALSE(plan(fields, "dence")[0].attention.make);
  const std::string message = fields.problems().at("kind");
  EXPECT_NE(message.find("\"dence\""), std::string::npos) << message;
  GivenFields given({{"kind", std::string("dence")}});
  plan(given, "dense");
  EXPECT_TRUE(given.problems().contains("kind"));
}

TEST(ReadAttention, refuses_a_mechanisms_setting_out_of_range) {
  GivenFields fields({{"scale", -1.0}});
  plan(fields, "dense");
  EXPECT_TRUE(fields.problems().contains("scale"));
}

Settings group(Index heads, const std::string& kind = "dense") {
  return {{"kind", kind}, {"heads", heads}};
}

TEST(ReadAttention, reads_head_groups) {
  GivenFields fields({{"groups", std::vector<Settings>{group(3), group(1)}}});
  const auto groups = plan(fields, "mixed");
  EXPECT_TRUE(fields.problems().empty());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].heads, 3);
  EXPECT_EQ(groups[1].heads, 1);
}

TEST(ReadAttention, reports_each_problem_of_head_groups) {
  GivenFields few({{"groups", std::vector<Settings>{group(1), group(2)}}});
  plan(few, "mixed");
  EXPECT_EQ(few.problems().at("groups"), "the groups have 3 heads together, the model 4");
  GivenFields wrong({{"groups", std::vector<Settings>{group(0), group(3, "dence"), {}}}});
  plan(wrong, "mixed");
  for (const std::string key : {"groups.0.heads", "groups.1.kind", "groups.2.kind"})
    EXPECT_TRUE(wrong.problems().contains(key)) << key;
}

TEST(AttentionPlans, answer_from_traits_without_making_a_mechanism) {
  const AttentionMaker never = [](const AttentionSite&) -> std::unique_ptr<Attention> {
    ADD_FAILURE() << "a mechanism was made";
    return nullptr;
  };
  const AttentionSite site{.width = 24, .heads = 4, .head_width = 6, .length = 50};
  const HeadGroupPlan plain{{never}, 2};
  HeadGroupPlan leaky = plain, carrying = plain, two_way = plain, unaware = plain;
  leaky.attention.traits.leaks = true;
  carrying.attention.most_memory_tokens = 8;
  two_way.attention.traits.causal = false;
  unaware.attention.traits.padding = false;
  EXPECT_FALSE(leaks({plain}));
  EXPECT_TRUE(leaks({plain, leaky}));
  EXPECT_FALSE(carries_past({plain}));
  EXPECT_TRUE(carries_past({plain, carrying}));
  EXPECT_TRUE(takes_padding({plain}));
  EXPECT_FALSE(takes_padding({plain, unaware}));
  EXPECT_EQ(why_unfit({plain}, site), "");
  EXPECT_NE(why_unfit({plain, two_way}, site).find("model.causal = false"), std::string::npos);
}

TEST(AttentionPlans, ask_nothing_of_a_group_whose_settings_name_no_mechanism) {
  HeadGroupPlan nameless{{}, 4};
  nameless.attention.traits.leaks = true;
  nameless.attention.traits.padding = false;
  EXPECT_FALSE(leaks({nameless}));
  EXPECT_TRUE(takes_padding({nameless}));
}

}  // namespace
}  // namespace weft::layers::attention_plans_test
