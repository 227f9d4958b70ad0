#include <cmath>

#include "experiments/config/reader.h"
#include "tests/experiments/config/config_scratch.h"

namespace weft::experiments::config_reader_test {
namespace {

struct GroupSettings {
  std::string kind = "dense";
  Index heads = 1;

  void fields(core::Fields& f) {
    f.choice("kind", kind, "what the heads do", {"dense", "local", "linear"});
    f.integer("heads", heads, "how many", core::at_least(1));
  }
};

struct ModelSettings {
  Index heads = 4;
  Index width = 64;
  double dropout = 0;
  bool tie = true;
  std::string norm = "layer";
  std::string name = "base";
  std::vector<std::string> attention = {"dense"};
  std::vector<Index> sizes = {1, 2};
  std::vector<double> betas = {0.9};
  std::vector<GroupSettings> groups;

  void fields(core::Fields& f) {
    f.integer("heads", heads, "attention heads", core::at_least(1));
    f.integer("width", width, "model width");
    f.number("dropout", dropout, "rate", core::between(0, 1));
    f.flag("tie", tie, "share the embedding");
    f.choice("norm", norm, "which norm", {"layer", "rms", "batch"});
    f.text("name", name, "of the model");
    f.texts("attention", attention, "by layer");
    f.integers("sizes", sizes, "some sizes", core::at_least(1));
    f.numbers("betas", betas, "some rates", {.high = 1});
    for (auto& table : f.tables("groups", "head groups")) groups.emplace_back().fields(*table);
    if (width % heads != 0) f.problem("heads", "must divide width " + std::to_string(width));
  }
};

ModelSettings read_model(const std::string& text, const std::vector<std::string>& arguments = {}) {
  ConfigReader reader(ConfigTree::from_text(text, "a.toml", arguments));
  ModelSettings model;
  model.fields(reader.section("model"));
  reader.finish();
  return model;
}

std::string refusal_of(const std::string& text, const std::vector<std::string>& arguments = {}) {
  return refusal([&] { read_model(text, arguments); });
}

const std::string one_problem = "1 problem in the configuration, nothing was started\n  ";

TEST(ConfigReader, fills_settings_of_every_type) {
  const ModelSettings model = read_model(
      "[model]\nheads = 2\nwidth = 1e3\ndropout = 1\ntie = false\nnorm = 'rms'\nname = 'x'\n"
      "attention = ['a', 'b']\nsizes = [3]\nbetas = [1, 0.5]\n"
      "groups = [{kind = 'local', heads = 2}, {}]\n");
  EXPECT_EQ(model.heads, 2);
  EXPECT_EQ(model.width, 1000);
  EXPECT_EQ(model.dropout, 1.0);
  EXPECT_FALSE(model.tie);
  EXPECT_EQ(model.norm, "rms");
  EXPECT_EQ(model.name, "x");
  EXPECT_EQ(model.attention, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(model.sizes, (std::vector<Index>{3}));
  EXPECT_EQ(model.betas, (std::vector<double>{1, 0.5}));
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].kind, "local");
  EXPECT_EQ(model.groups[0].heads, 2);
  EXPECT_EQ(model.groups[1].kind, "dense");
}

TEST(ConfigReader, leaves_defaults_where_the_config_is_silent) {
  const ModelSettings model = read_model("");
  EXPECT_EQ(model.heads, 4);
  EXPECT_EQ(model.attention, (std::vector<std::string>{"dense"}));
  EXPECT_TRUE(model.groups.empty());
}

TEST(ConfigReader, takes_a_single_text_for_a_list_and_digits_for_text) {
  EXPECT_EQ(read_model("[model]\nattention = 'local'").attention,
            (std::vector<std::string>{"local"}));
  EXPECT_EQ(read_model("", {"model.attention=local"}).attention,
            (std::vector<std::string>{"local"}));
  EXPECT_EQ(read_model("[model]\nname = 12").name, "12");
  EXPECT_EQ(read_model("[model]\nname = 0.5").name, "0.5");
  EXPECT_EQ(read_model("", {"model.name=1.50"}).name, "1.50");
}

TEST(ConfigReader, reports_everything_at_once_in_the_order_of_the_lines) {
  EXPECT_EQ(
      refusal_of("[model]\n"
                 "norm = 'lyer'\n"
                 "dropout = 1.5\n"
                 "atention = 'dense'\n"
                 "sizes = [1,\n"
                 "  0, 'two']\n"
                 "tie = 'yes'\n"
                 "groups = [{kind = 'locl'},\n"
                 "  {heds = 2, heads = 0.5}]\n"
                 "[modle]\n"
                 "x = 1\n",
                 {"model.heads=0", "model.betas=[0.5, 2]", "model.name=[]"}),
      "13 problems in the configuration, nothing was started\n"
      "  a.toml:2: model.norm = \"lyer\" must be one of layer, rms, batch; did you mean layer?\n"
      "  a.toml:3: model.dropout = 1.5 is not between 0 and 1\n"
      "  a.toml:4: unknown key model.atention; did you mean model.attention?\n"
      "  a.toml:6: model.sizes[1] = 0 is below 1\n"
      "  a.toml:6: model.sizes[2] = \"two\" must be a whole number\n"
      "  a.toml:7: model.tie = \"yes\" must be true or false\n"
      "  a.toml:8: model.groups[0].kind = \"locl\" must be one of dense, local, linear; did "
      "you mean local?\n"
      "  a.toml:9: unknown key model.groups[1].heds; did you mean model.groups[1].heads?\n"
      "  a.toml:9: model.groups[1].heads = 0.5 must be a whole number\n"
      "  a.toml:10: unknown section modle; did you mean model?\n"
      "  command line: model.heads = 0 is below 1\n"
      "  command line: model.betas[1] = 2 is above 1\n"
      "  command line: model.name must be text, not a list");
}

TEST(ConfigReader, places_problems_between_values_where_the_value_was_set) {
  EXPECT_EQ(refusal_of("[model]\nheads = 5\n"),
            one_problem + "a.toml:2: model.heads: must divide width 64");
  EXPECT_EQ(refusal_of("[model]\nwidth = 63\n"),
            one_problem + "default: model.heads: must divide width 63");
  EXPECT_EQ(refusal_of("", {"model.heads=5"}),
            one_problem + "command line: model.heads: must divide width 64");
}

TEST(ConfigReader, does_not_judge_the_default_that_stands_in_for_a_bad_value) {
  EXPECT_EQ(refusal_of("[model]\nheads = 0\nwidth = 63\n"),
            one_problem + "a.toml:2: model.heads = 0 is below 1");
}

TEST(ConfigReader, refuses_values_of_the_wrong_type) {
  EXPECT_EQ(refusal_of("[model]\nwidth = 1.5"),
            one_problem + "a.toml:2: model.width = 1.5 must be a whole number");
  EXPECT_EQ(refusal_of("[model]\nwidth = 1e300"),
            one_problem + "a.toml:2: model.width = 1e300 must be a whole number");
  EXPECT_EQ(refusal_of("[model]\ndropout = 'half'"),
            one_problem + "a.toml:2: model.dropout = \"half\" must be a number");
  EXPECT_EQ(refusal_of("[model]\ndropout = nan"),
            one_problem + "a.toml:2: model.dropout = nan must be a number");
  EXPECT_EQ(refusal_of("[model]\nname = true"),
            one_problem + "a.toml:2: model.name = true must be text");
  EXPECT_EQ(refusal_of("[model]\nnorm = 1"),
            one_problem + "a.toml:2: model.norm = 1 must be one of layer, rms, batch");
  EXPECT_EQ(refusal_of("[model]\n[model.width]\nx = 1"),
            one_problem + "a.toml:2: model.width must be a whole number, not a table");
}

TEST(ConfigReader, refuses_sections_and_tables_that_are_none) {
  EXPECT_EQ(refusal_of("model = 3"),
            one_problem + "a.toml:1: model = 3 must be a section, [model]");
  EXPECT_EQ(refusal_of("[[model]]\nheads = 1"),
            one_problem + "a.toml:1: model must be a section, [model], not a list");
  EXPECT_EQ(refusal_of("[model.groups]\nheads = 1"),
            one_problem + "a.toml:1: model.groups must be a list of tables, not a table");
  EXPECT_EQ(refusal_of("[model]\ngroups = [{}, 3]"),
            one_problem + "a.toml:2: model.groups[1] = 3 must be a table");
}

TEST(ConfigReader, cuts_long_values_in_messages) {
  const std::string value(500, 'x');
  const std::string message = refusal_of(core::message_of("[model]\nwidth = '", value, "'"));
  EXPECT_EQ(message, one_problem + "a.toml:2: model.width = \"" + std::string(59, 'x') +
                         "... must be a whole number");
}

TEST(ConfigReader, reports_a_key_read_twice_once) {
  ConfigReader reader(ConfigTree::from_text("[model]\nheads = 0", "a.toml"));
  for (int i = 0; i < 2; ++i) ModelSettings().fields(reader.section("model"));
  EXPECT_EQ(refusal([&] { reader.finish(); }),
            one_problem + "a.toml:2: model.heads = 0 is below 1");
}

TEST(ConfigReader, reports_two_different_problems_with_one_value) {
  ConfigReader reader(ConfigTree::from_text("[model]\nheads = 3", "a.toml"));
  for (int i = 0; i < 2; ++i) {
    ModelSettings().fields(reader.section("model"));
    reader.section("model").problem("heads", "must be even");
  }
  EXPECT_EQ(refusal([&] { reader.finish(); }),
            "2 problems in the configuration, nothing was started\n"
            "  a.toml:2: model.heads: must divide width 64\n"
            "  a.toml:2: model.heads: must be even");
}

TEST(ConfigReader, judges_no_list_of_which_an_item_is_wrong) {
  ConfigReader reader(ConfigTree::from_text("[model]\nsizes = [1, 0]", "a.toml"));
  ModelSettings().fields(reader.section("model"));
  reader.section("model").problem("sizes", "must be three");
  EXPECT_EQ(refusal([&] { reader.finish(); }),
            one_problem + "a.toml:2: model.sizes[1] = 0 is below 1");
}

TEST(ConfigReader, takes_problems_that_no_section_sees_alone) {
  ConfigReader reader(ConfigTree::from_text("[model]\nattention = 'loacl'", "a.toml"));
  ModelSettings().fields(reader.section("model"));
  reader.problem("model.attention", "no attention is named loacl", "local");
  reader.problem("train.steps", "give a number of steps");
  EXPECT_EQ(refusal([&] { reader.finish(); }),
            "2 problems in the configuration, nothing was started\n"
            "  a.toml:2: model.attention: no attention is named loacl; did you mean local?\n"
            "  default: train.steps: give a number of steps");
}

}  // namespace
}  // namespace weft::experiments::config_reader_test
