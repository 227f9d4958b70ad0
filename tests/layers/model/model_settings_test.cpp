#include "layers/settings/model_settings.h"

#include "tests/layers/given_fields.h"

namespace weft::layers::model_settings_test {
namespace {

using tests::GivenFields;
using tests::Settings;
using Names = std::vector<std::string>;
using Problems = std::map<std::string, std::string>;

Problems problems_of(const Settings& given) {
  GivenFields fields(given);
  ModelSettings().fields(fields);
  return fields.problems();
}

TEST(ModelSettings, list_the_keys_of_the_model_section) {
  GivenFields fields;
  ModelSettings().fields(fields);
  EXPECT_EQ(fields.visited(),
            (Names{"task",       "trunk",  "steps",       "layers",         "width",
                   "heads",      "ff",     "feedforward", "activation",     "ff_chunk",
                   "loss_chunk", "norm",   "norm_place",  "positions",      "dropout",
                   "tie",        "output", "causal",      "segment_memory", "reversible",
                   "attention"}));
  EXPECT_TRUE(fields.problems().empty());
}

TEST(ModelSettings, a_classifier_reads_both_ways_by_default_and_has_no_output_layer_over_tokens) {
  GivenFields fields({{"task", std::string("classify")}});
  ModelSettings settings;
  settings.fields(fields);
  EXPECT_EQ(fields.visited(),
            (Names{"task", "pool", "head", "trunk", "steps", "layers", "width", "heads", "ff",
                   "feedforward", "activation", "ff_chunk", "norm", "norm_place", "positions",
                   "dropout", "causal", "reversible", "attention"}));
  EXPECT_TRUE(fields.problems().empty());
  EXPECT_FALSE(settings.causal);
  EXPECT_EQ(settings.places(10), 11);
  settings.pool = Pool::mean;
  EXPECT_EQ(settings.places(10), 10);
  GivenFields causal({{"task", std::string("classify")}, {"causal", true}});
  settings.fields(causal);
  EXPECT_TRUE(settings.causal);
}

TEST(ModelSettings, ask_how_a_reversible_stack_ends) {
  const Settings concat{
      {"reversible", true}, {"reversible_output", std::string("concat")}, {"tie", false}};
  EXPECT_TRUE(problems_of(concat).empty());
  Settings tied = concat;
  tied["tie"] = true;
  EXPECT_TRUE(problems_of(tied).contains("tie"));
  Settings post = concat;
  post["norm_place"] = std::string("post");
  EXPECT_TRUE(problems_of(post).contains("norm_place"));
}

TEST(ModelSettings, refuse_positions_that_begin_anew_in_every_segment) {
  for (const std::string positions : {"learned", "axial", "sinusoidal", "rotary"})
    EXPECT_TRUE(
        problems_of({{"segment_memory", true}, {"positions", positions}}).contains("positions"))
        << positions;
  for (const std::string positions : {"none", "xl", "shaw", "t5"})
    EXPECT_TRUE(problems_of({{"segment_memory", true}, {"positions", positions}}).empty())
        << positions;
}

TEST(ModelSettings, refuse_batch_norm_unless_its_leak_is_allowed) {
  const auto refused = problems_of({{"norm", std::string("batch")}});
  EXPECT_NE(refused.at("norm").find("allow_leaky_norm"), std::string::npos);
  EXPECT_NE(refused.at("norm").find("future"), std::string::npos);
  EXPECT_TRUE(problems_of({{"norm", std::string("batch")}, {"allow_leaky_norm", true}}).empty());
  EXPECT_TRUE(problems_of({{"norm", std::string("rms")}}).empty());
}

TEST(ModelSettings, fit_a_grid_of_positions_to_the_length) {
  ModelSettings s;
  for (const Index length : {1, 2, 7, 64, 100, 4097}) {
    const AxialGrid grid = s.axial_grid(length);
    EXPECT_GE(grid.n1 * grid.n2, length);
    EXPECT_LT(grid.n1 * grid.n2, length + grid.n1);
    EXPECT_EQ(grid.d1 + grid.d2, s.width);
  }
  s.axial_shape = {3, 5};
  s.axial_widths = {10, 54};
  const AxialGrid grid = s.axial_grid(12);
  EXPECT_EQ(grid.n1, 3);
  EXPECT_EQ(grid.n2, 5);
  EXPECT_EQ(grid.d1, 10);
  EXPECT_EQ(grid.d2, 54);
}

TEST(ModelSettings, refuse_a_grid_that_does_not_fit_the_width) {
  const Settings axial{{"positions", std::string("axial")}, {"width", Index(24)}};
  EXPECT_TRUE(problems_of(axial).empty());
  Settings given = axial;
  given["axial_shape"] = std::vector<Index>{4};
  given["axial_widths"] = std::vector<Index>{4, 4};
  const Problems problems = problems_of(given);
  EXPECT_TRUE(problems.contains("axial_shape"));
  EXPECT_NE(problems.at("axial_widths").find("24"), std::string::npos);
}

TEST(ModelSettings, read_what_is_given) {
  GivenFields fields({{"layers", Index(3)},
                      {"width", Index(24)},
                      {"heads", Index(3)},
                      {"norm_place", std::string("post")},
                      {"positions", std::string("rotary")},
                      {"dropout", 0.1},
                      {"tie", false},
                      {"attention", Names{"dense", "other", "dense"}}});
  ModelSettings s;
  s.fields(fields);
  EXPECT_TRUE(fields.problems().empty());
  EXPECT_EQ(s.layers, 3);
  EXPECT_EQ(s.hidden(), 96) << "four times the width unless given";
  EXPECT_EQ(s.norm_place, NormPlace::post);
  EXPECT_EQ(s.positions, PositionKind::rotary);
  EXPECT_EQ(s.dropout, 0.1);
  EXPECT_FALSE(s.tie);
  EXPECT_EQ(s.attention_names(), (Names{"dense", "other"}));
  s.ff = 7;
  EXPECT_EQ(s.hidden(), 7);
  const AttentionSite site = s.site(50);
  EXPECT_EQ(site.layers, 3);
  EXPECT_EQ(site.width, 24);
  EXPECT_EQ(site.heads, 3);
  EXPECT_EQ(site.head_width, 8);
  EXPECT_EQ(site.length, 50);
  EXPECT_TRUE(site.causal);
}

TEST(ModelSettings, refuse_values_out_of_range) {
  for (const std::string key : {"layers", "width", "heads", "ff"})
    EXPECT_TRUE(problems_of({{key, Index(-1)}}).contains(key)) << key;
  for (const std::string key : {"layers", "width", "heads"})
    EXPECT_TRUE(problems_of({{key, Index(0)}}).contains(key)) << key;
  EXPECT_TRUE(problems_of({{"dropout", 1.0}}).contains("dropout"));
  EXPECT_TRUE(problems_of({{"dropout", -0.1}}).contains("dropout"));
  for (const std::string key : {"norm", "norm_place", "positions"})
    EXPECT_TRUE(problems_of({{key, std::string("sideways")}}).contains(key)) << key;
  EXPECT_TRUE(problems_of({{"attention", Names{}}}).contains("attention"));
}

TEST(ModelSettings, refuse_values_that_do_not_fit_each_other) {
  const Problems uneven = problems_of({{"width", Index(64)}, {"heads", Index(3)}});
  EXPECT_NE(uneven.at("width").find("64 is not a multiple of 3"), std::string::npos);
  const Settings odd{
      {"width", Index(15)}, {"heads", Index(3)}, {"positions", std::string("rotary")}};
  EXPECT_NE(problems_of(odd).at("positions").find("even head width"), std::string::npos);
  EXPECT_TRUE(problems_of({{"width", Index(15)}, {"heads", Index(3)}}).empty());
}

}  // namespace
}  // namespace weft::layers::model_settings_test
