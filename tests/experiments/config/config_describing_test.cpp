#include "experiments/config/describing.h"

namespace weft::experiments::config_describing_test {
namespace {

struct Settings {
  core::Index window = 64;
  double eps = 1e-6;
  bool causal = true;
  std::string path;
  std::string norm = "rms";
  std::vector<core::Index> sizes = {1, 2};
  std::vector<double> rates;
  std::vector<std::string> names = {"a"};

  void fields(core::Fields& f) {
    f.integer("window", window, "keys read", core::at_least(1));
    f.number("eps", eps, "guard", core::between(0, 1));
    f.flag("causal", causal, "");
    f.text("path", path, "a file");
    f.choice("norm", norm, "which", {"layer", "rms"});
    f.integers("sizes", sizes, "some", {.high = 9});
    f.numbers("rates", rates, "many");
    f.texts("names", names, "any");
    for (auto& group : f.tables("groups", "head groups"))
      group->integer("heads", window, "how many");
    f.problem("window", "which nobody wants to hear about here");
  }
};

TEST(DescribingFields, collect_type_default_and_help_of_every_setting) {
  EXPECT_EQ(print_descriptions(describe(Settings())),
            "window          integer >= 1          64      keys read\n"
            "eps             number 0 to 1         1e-6    guard\n"
            "causal          true | false          true\n"
            "path            text                  \"\"      a file\n"
            "norm            layer | rms           \"rms\"   which\n"
            "sizes           list of integer <= 9  [1, 2]  some\n"
            "rates           list of number        []      many\n"
            "names           text or list of text  [\"a\"]   any\n"
            "groups          list of tables                head groups\n"
            "groups[].heads  integer               64      how many\n");
}

TEST(DescribingFields, print_full_paths_under_a_section) {
  std::vector<FieldDescription> lines = describe(Settings());
  lines.resize(1);
  EXPECT_EQ(print_descriptions(lines, "attention.local"),
            "attention.local.window  integer >= 1  64  keys read\n");
}

TEST(DescribingFields, leave_settings_alone) {
  Settings settings;
  DescribingFields fields;
  settings.fields(fields);
  EXPECT_EQ(settings.window, 64);
  EXPECT_EQ(fields.descriptions().size(), 10u);
  EXPECT_EQ(fields.descriptions()[4].type, "layer | rms");
}

}  // namespace
}  // namespace weft::experiments::config_describing_test
