#include "experiments/config/tree.h"
#include "tests/experiments/config/config_scratch.h"

namespace weft::experiments::config_tree_test {
namespace {

const std::string one_problem = "1 problem in the configuration, nothing was started\n  ";

template <class Value>
Value value_at(const ConfigTree& tree, std::string_view path) {
  return std::get<Value>(tree.find(path)->value);
}

std::string origin_at(const ConfigTree& tree, std::string_view path) {
  return tree.find(path)->origin.text();
}

TEST(ConfigTree, knows_the_line_of_every_value) {
  const ConfigScratch scratch;
  const std::string path = scratch.write("a.toml",
                                         "# a comment\n"
                                         "seed = 7\n"
                                         "\n"
                                         "[model]\n"
                                         "width = 64\n"
                                         "attention = [\n"
                                         "  'local',\n"
                                         "  'dense']\n"
                                         "[attention.mix]\n"
                                         "groups = [{kind = 'local', heads = 2},\n"
                                         "          {kind = 'dense', heads = 1}]\n");
  const ConfigTree tree = ConfigTree::load(path);
  EXPECT_EQ(value_at<Index>(tree, "seed"), 7);
  EXPECT_EQ(origin_at(tree, "seed"), path + ":2");
  EXPECT_EQ(origin_at(tree, "model"), path + ":4");
  EXPECT_EQ(origin_at(tree, "model.width"), path + ":5");
  EXPECT_EQ(origin_at(tree, "model.attention"), path + ":6");
  EXPECT_EQ(origin_at(tree, "model.attention[1]"), path + ":8");
  EXPECT_EQ(origin_at(tree, "attention.mix.groups[1].heads"), path + ":11");
  EXPECT_EQ(tree.find("model.widths"), nullptr);
  EXPECT_EQ(tree.find("seed.more"), nullptr);
  EXPECT_EQ(tree.find("model.attention[2]"), nullptr);
}

TEST(ConfigTree, takes_a_quoted_key_with_dots_for_the_bare_one) {
  const ConfigTree bare = ConfigTree::from_text("model.width = 3\n[attention.a]\nwindow = 4", "a");
  const ConfigTree quoted = ConfigTree::from_text(
      "'model.width' = 3\n\"model.heads\" = 2\n['attention.a']\nwindow = 4", "a");
  for (const ConfigTree* tree : {&bare, &quoted}) {
    EXPECT_EQ(value_at<Index>(*tree, "model.width"), 3);
    EXPECT_EQ(value_at<Index>(*tree, "attention.a.window"), 4);
  }
  EXPECT_EQ(value_at<Index>(quoted, "model.heads"), 2);
  EXPECT_EQ(refusal([] { ConfigTree::from_text("model.width = 3\n'model.width' = 4", "a.toml"); }),
            one_problem + "a.toml:2: model.width is given twice, in two ways");
}

TEST(ConfigTree, lays_a_file_over_its_includes_and_later_includes_over_earlier) {
  const ConfigScratch scratch;
  const std::string first =
      scratch.write("base/first.toml", "seed = 1\n[model]\nwidth = 1\nff = 1\n");
  const std::string second =
      scratch.write("base/second.toml", "include = 'third.toml'\n[model]\nwidth = 2\n");
  const std::string third = scratch.write("base/third.toml", "[model]\nwidth = 3\nheads = 3\n");
  const std::string top =
      scratch.write("a.toml", "include = ['base/first.toml', 'base/second.toml']\nseed = 9\n");
  const ConfigTree tree = ConfigTree::load(top);
  EXPECT_EQ(value_at<Index>(tree, "seed"), 9);
  EXPECT_EQ(origin_at(tree, "seed"), top + ":2");
  EXPECT_EQ(value_at<Index>(tree, "model.width"), 2);
  EXPECT_EQ(origin_at(tree, "model.width"), second + ":3");
  EXPECT_EQ(value_at<Index>(tree, "model.heads"), 3);
  EXPECT_EQ(origin_at(tree, "model.heads"), third + ":3");
  EXPECT_EQ(origin_at(tree, "model.ff"), first + ":4");
  EXPECT_EQ(tree.find("include"), nullptr);
}

TEST(ConfigTree, may_include_one_file_by_two_ways) {
  const ConfigScratch scratch;
  scratch.write("base.toml", "seed = 1\n");
  scratch.write("left.toml", "include = ['base.toml']\n");
  scratch.write("right.toml", "include = ['base.toml']\n");
  const std::string top = scratch.write("a.toml", "include = ['left.toml', 'right.toml']\n");
  EXPECT_EQ(value_at<Index>(ConfigTree::load(top), "seed"), 1);
}

TEST(ConfigTree, includes_a_ladder_of_doubled_files_in_linear_time) {
  const ConfigScratch scratch;
  scratch.write("30.toml", "seed = 30\n");
  for (int i = 29; i >= 0; --i) {
    const std::string next = core::message_of("'", i + 1, ".toml'");
    scratch.write(core::message_of(i, ".toml"),
                  core::message_of("include = [", next, ", ", next, "]"));
  }
  EXPECT_EQ(value_at<Index>(ConfigTree::load(scratch.path("0.toml")), "seed"), 30);
}

TEST(ConfigTree, refuses_a_cycle_of_includes) {
  const ConfigScratch scratch;
  const std::string a = scratch.write("a.toml", "seed = 1\ninclude = ['b.toml']\n");
  scratch.write("b.toml", "include = ['a.toml']\n");
  EXPECT_EQ(
      scratch.strip(refusal([&] { ConfigTree::load(a); })),
      one_problem + "b.toml:1: a.toml includes itself by way of this line; remove one include");
}

TEST(ConfigTree, reports_every_bad_file_and_argument_at_once) {
  const ConfigScratch scratch;
  scratch.write("bad.toml", "seed = 1\nseed = 2\n");
  const std::string top = scratch.write("a.toml",
                                        "include = ['bad.toml', 3,\n"
                                        "           'none.toml']\n"
                                        "[model]\n");
  EXPECT_EQ(scratch.strip(refusal([&] {
    ConfigTree::load(top, {"model.width", "=3"});
  })),
            "5 problems in the configuration, nothing was started\n"
            "  a.toml:1: include must list files, such as [\"base.toml\"], not 3\n"
            "  a.toml:2: cannot read the config file none.toml: No such file or directory\n"
            "  bad.toml:2: not valid TOML: Error while parsing key-value pair: cannot redefine "
            "existing integer 'seed'\n"
            "  command line: \"model.width\" is no setting; write section.key=value\n"
            "  command line: \"\" is no key; write section.key=value");
}

TEST(ConfigTree, says_that_the_config_file_is_missing) {
  const ConfigScratch scratch;
  EXPECT_EQ(scratch.strip(refusal([&] { ConfigTree::load(scratch.path("none.toml")); })),
            one_problem +
                "command line: cannot read the config file none.toml: No such file or directory");
  EXPECT_EQ(scratch.strip(refusal([&] { ConfigTree::load(scratch.path("")); })),
            one_problem + "command line: cannot read the config file : it is a directory");
}

TEST(ConfigTree, survives_links_that_lead_in_circles) {
  const ConfigScratch scratch;
  std::filesystem::create_symlink("b.toml", scratch.path("a.toml"));
  std::filesystem::create_symlink("a.toml", scratch.path("b.toml"));
  EXPECT_EQ(scratch.strip(refusal([&] { ConfigTree::load(scratch.path("a.toml")); })),
            one_problem +
                "command line: cannot read the config file a.toml: Too many levels of "
                "symbolic links; correct the link");
}

TEST(ConfigTree, lets_the_command_line_win) {
  const ConfigScratch scratch;
  const std::string path = scratch.write("a.toml", "[model]\nwidth = 64\nheads = 2\n");
  const ConfigTree tree =
      ConfigTree::load(path, {"model.width=32", "model.width=128", "train.steps=10", "seed=3"});
  EXPECT_EQ(value_at<Index>(tree, "model.width"), 128);
  EXPECT_EQ(origin_at(tree, "model.width"), "command line");
  EXPECT_EQ(origin_at(tree, "model.heads"), path + ":3");
  EXPECT_EQ(value_at<Index>(tree, "train.steps"), 10);
  EXPECT_EQ(value_at<Index>(tree, "seed"), 3);
}

TEST(ConfigTree, takes_arguments_as_toml_and_else_as_plain_text) {
  const ConfigTree tree = ConfigTree::from_text(
      "", "none",
      {"a.plain=local", "a.comma=a,b", "a.quoted=\"x y\"", "a.float=1e-3", "a.flag=true",
       "a.list=[\"p\", \"q\"]", "a.table={k = 1}", "a.empty=", "a.path=../data/x=1.txt",
       "a.lines=one\ntwo", "a.trick=1\nb = 2", "a.zeros=007"});
  EXPECT_EQ(value_at<std::string>(tree, "a.plain"), "local");
  EXPECT_EQ(value_at<std::string>(tree, "a.comma"), "a,b");
  EXPECT_EQ(value_at<std::string>(tree, "a.quoted"), "x y");
  EXPECT_EQ(value_at<double>(tree, "a.float"), 1e-3);
  EXPECT_EQ(value_at<bool>(tree, "a.flag"), true);
  EXPECT_EQ(value_at<std::string>(tree, "a.list[1]"), "q");
  EXPECT_EQ(value_at<Index>(tree, "a.table.k"), 1);
  EXPECT_EQ(value_at<std::string>(tree, "a.empty"), "");
  EXPECT_EQ(value_at<std::string>(tree, "a.path"), "../data/x=1.txt");
  EXPECT_EQ(value_at<std::string>(tree, "a.lines"), "one\ntwo");
  EXPECT_EQ(value_at<std::string>(tree, "a.trick"), "1\nb = 2");
  EXPECT_EQ(value_at<std::string>(tree, "a.zeros"), "007");
  EXPECT_EQ(tree.find("b"), nullptr);
}

TEST(ConfigTree, refuses_arguments_that_look_like_toml_but_are_not) {
  const std::string message = refusal([] {
    ConfigTree::from_text("", "none", {"model.attention=[local, dense]", "a=\"half"});
  });
  EXPECT_TRUE(message.starts_with("2 problems")) << message;
  EXPECT_NE(message.find("command line: model.attention: not valid TOML: "), std::string::npos);
  EXPECT_NE(message.find("command line: a: not valid TOML: "), std::string::npos);
}

TEST(ConfigTree, refuses_an_argument_inside_something_that_is_no_table) {
  EXPECT_EQ(refusal([] {
              ConfigTree::from_text("\n[model]\nattention = 'dense'", "run.toml",
                                    {"model.attention.kind=linear"});
            }),
            one_problem +
                "command line: model.attention.kind cannot be set: model.attention is \"dense\" "
                "(run.toml:3), not a table");
}

TEST(ConfigTree, reads_text_in_memory_under_a_given_name) {
  const ConfigTree tree = ConfigTree::from_text("\nseed = 4\n", "last.h5", {"threads=2"});
  EXPECT_EQ(origin_at(tree, "seed"), "last.h5:2");
  EXPECT_EQ(origin_at(tree, "threads"), "command line");
  EXPECT_EQ(refusal([] { ConfigTree::from_text("include = ['a.toml']", "last.h5"); }),
            one_problem + "last.h5:1: include works only in a config file");
  EXPECT_EQ(refusal([] { ConfigTree::from_text("", "x", {"include=a.toml"}); }),
            one_problem + "command line: include works only in a config file");
}

TEST(ConfigTree, names_the_tables_of_a_section_in_order) {
  const ConfigTree tree = ConfigTree::from_text(
      "[attention.wide]\nx = 1\n[attention.far]\n[attention]\nodd = 3\n", "a.toml");
  EXPECT_EQ(tree.tables_under("attention"), (std::vector<std::string>{"far", "wide"}));
  EXPECT_EQ(tree.tables_under(""), (std::vector<std::string>{"attention"}));
  EXPECT_TRUE(tree.tables_under("model").empty());
}

}  // namespace
}  // namespace weft::experiments::config_tree_test
