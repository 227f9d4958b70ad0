#include "experiments/config/keys.h"
#include "experiments/config/reader.h"
#include "tests/experiments/config/config_scratch.h"

namespace weft::experiments::config_keys_test {
namespace {

struct RecallSettings {
  Index keys = 8;
  void fields(core::Fields& f) { f.integer("keys", keys, "reserved symbols"); }
};

struct TextSettings {
  std::string path;
  bool stream = false;
  void fields(core::Fields& f) {
    f.text("path", path, "the file");
    f.flag("stream", stream, "contiguous");
  }
};

struct BytesSettings {
  std::string path;
  void fields(core::Fields& f) { f.text("path", path, "the file"); }
};

/// Reads a config as a run would, with [data] of kind "recall".
std::string refusal_of(const std::string& text, const std::vector<std::string>& arguments = {}) {
  return refusal([&] {
    ConfigReader reader(ConfigTree::from_text(text, "a.toml", arguments));
    Index number = 1;
    std::string kind = "recall";
    core::Fields& top = reader.section("");
    top.integer("seed", number, "");
    top.integer("threads", number, "");
    core::Fields& data = reader.section("data");
    data.choice("kind", kind, "", {"recall", "text", "bytes"});
    data.when("kind", {"recall"}, [&] { RecallSettings().fields(data); });
    data.when("kind", {"text"}, [&] { TextSettings().fields(data); });
    data.when("kind", {"bytes"}, [&] { BytesSettings().fields(data); });
    core::Fields& model = reader.section("model");
    for (const char* key : {"layers", "width", "heads", "attention"})
      model.integer(key, number, "");
    reader.section("optim").integer("lr", number, "");
    reader.section("attention");
    reader.section("attention.local").integer("window", number, "");
    reader.finish();
  });
}

std::string only(const std::string& problem) {
  return "1 problem in the configuration, nothing was started\n  " + problem;
}

TEST(ConfigKeys, name_the_nearest_key_of_the_same_section) {
  EXPECT_EQ(refusal_of("[model]\natention = 1"),
            only("a.toml:2: unknown key model.atention; did you mean model.attention?"));
  EXPECT_EQ(refusal_of("[model]\nhead = 1"),
            only("a.toml:2: unknown key model.head; did you mean model.heads?"));
  EXPECT_EQ(refusal_of("sede = 1"), only("a.toml:1: unknown key sede; did you mean seed?"));
  EXPECT_EQ(refusal_of("", {"attention.local.widow=3"}),
            only("command line: unknown key attention.local.widow; did you mean "
                 "attention.local.window?"));
}

TEST(ConfigKeys, name_the_key_of_another_section) {
  EXPECT_EQ(refusal_of("heads = 2"),
            only("a.toml:1: unknown key heads; did you mean model.heads?"));
  EXPECT_EQ(refusal_of("[model]\nlr = 2"),
            only("a.toml:2: unknown key model.lr; did you mean optim.lr?"));
  EXPECT_EQ(refusal_of("model_width = 2"),
            only("a.toml:1: unknown key model_width; did you mean model.width?"));
}

TEST(ConfigKeys, suggest_nothing_when_nothing_is_near) {
  EXPECT_EQ(refusal_of("[model]\nquantisation = 1"),
            only("a.toml:2: unknown key model.quantisation"));
}

TEST(ConfigKeys, name_a_misspelt_section_once_whatever_it_holds) {
  EXPECT_EQ(refusal_of("[modle]\nheads = 1\nwidth = 2\n"),
            only("a.toml:1: unknown section modle; did you mean model?"));
  EXPECT_EQ(refusal_of("[attention.locla]\nwindow = 1\n"),
            only("a.toml:1: unknown section attention.locla; did you mean attention.local?"));
  EXPECT_EQ(refusal_of("", {"model.atention.kind=linaer"}),
            only("command line: unknown section model.atention; did you mean model.attention?"));
}

TEST(ConfigKeys, say_with_which_kind_a_key_would_be_used) {
  EXPECT_EQ(refusal_of("[data]\nstream = true"),
            only("a.toml:2: data.stream is used only with data.kind = \"text\""));
  EXPECT_EQ(refusal_of("[data]\npath = 'x'"),
            only("a.toml:2: data.path is used only with data.kind = \"text\" or \"bytes\""));
  EXPECT_EQ(refusal_of("[data]\nsteam = true"),
            only("a.toml:2: unknown key data.steam; did you mean data.stream (only with data.kind "
                 "= \"text\")?"));
  EXPECT_EQ(refusal_of("[data]\nkeys = 3"), "");
}

TEST(ConfigKeys, hold_their_judgement_on_settings_of_a_kind_that_is_wrong) {
  EXPECT_EQ(
      refusal_of("[data]\nkind = 'txt'\npath = 'x'\nlenght = 3\n"),
      "2 problems in the configuration, nothing was started\n"
      "  a.toml:2: data.kind = \"txt\" must be one of recall, text, bytes; did you mean text?\n"
      "  a.toml:4: unknown key data.lenght");
}

TEST(ConfigKeys, blame_the_condition_that_fails) {
  // Only a cosine has a floor and only sgd a momentum, whose form only a nesterov has a name for.
  const auto read = [&](std::string kind, std::string schedule) {
    return refusal([&] {
      ConfigReader reader(
          ConfigTree::from_text("[optim]\nfloor = 1\nmomentum = 2\nlook = 3", "a.toml"));
      core::Fields& f = reader.section("optim");
      double value = 0, floor = 0;
      bool nesterov = false;
      f.choice("kind", kind, "", {"adam", "sgd"});
      f.choice("schedule", schedule, "", {"constant", "cosine"});
      f.when("kind", {"sgd"}, [&] {
        f.number("momentum", value, "");
        f.flag("nesterov", nesterov, "");
        f.when("nesterov", {"true"}, [&] { f.number("look", value, ""); });
      });
      f.when("schedule", {"cosine"}, [&] { f.number("floor", floor, ""); });
      EXPECT_EQ(value, kind == "sgd" ? 2 : 0);  // only noted while the condition fails
      reader.finish();
    });
  };
  const std::string look = "a.toml:4: optim.look is used only with optim.nesterov = true";
  EXPECT_EQ(read("sgd", "cosine"), only(look));
  EXPECT_EQ(read("sgd", "constant"),
            "2 problems in the configuration, nothing was started\n"
            "  a.toml:2: optim.floor is used only with optim.schedule = \"cosine\"\n  " +
                look);
  EXPECT_EQ(read("adam", "cosine"),
            "2 problems in the configuration, nothing was started\n"
            "  a.toml:3: optim.momentum is used only with optim.kind = \"sgd\"\n"
            "  a.toml:4: optim.look is used only with optim.kind = \"sgd\" and optim.nesterov = "
            "true");
}

TEST(ConfigKeys, name_the_condition_that_changes_least) {
  // A window of blocks exists in two kinds; of the chosen one it needs another form.
  const auto read = [](std::string kind) {
    return refusal([&] {
      ConfigReader reader(ConfigTree::from_text("[attention.a]\nblock = 3", "a.toml"));
      core::Fields& f = reader.section("attention.a");
      Index block = 0;
      std::string form = "band";
      f.choice("kind", kind, "", {"dense", "local", "random"});
      f.when("kind", {"local"}, [&] {
        f.choice("form", form, "", {"band", "block"});
        f.when("form", {"block"}, [&] { f.integer("block", block, ""); });
      });
      f.when("kind", {"random"}, [&] { f.integer("block", block, ""); });
      reader.finish();
    });
  };
  EXPECT_EQ(read("local"),
            only("a.toml:2: attention.a.block is used only with attention.a.form = \"block\""));
  EXPECT_EQ(read("dense"),
            only("a.toml:2: attention.a.block is used only with attention.a.kind = \"random\""));
}

TEST(ConfigKeys, name_the_fact_that_leaves_no_use_for_one) {
  ConfigReader reader(ConfigTree::from_text("[data]\nstream = true", "a.toml"));
  core::Fields& data = reader.section("data");
  data.when(false, "a text that is not prepared", [&] { TextSettings().fields(data); });
  EXPECT_EQ(refusal([&] { reader.finish(); }),
            only("a.toml:2: data.stream is used only with a text that is not prepared"));
}

TEST(ConfigKeys, a_renamed_key_is_an_error_that_names_the_new_one_unless_an_earlier_weft_saved_it) {
  const auto read = [](ConfigReader::Names names, const std::string& text) {
    ConfigReader reader(ConfigTree::from_text("[model]\n" + text, "a.toml"), names);
    Index width = 1;
    reader.section("model").renamed("unit", "sru_width");
    reader.section("model").integer("sru_width", width, "");
    reader.finish();
    return std::pair(width, reader.resolved().hash());
  };
  using Names = ConfigReader::Names;
  EXPECT_EQ(refusal([&] { read(Names::today, "unit = 4"); }),
            only("a.toml:2: model.unit is now called model.sru_width: rename it"));
  EXPECT_EQ(read(Names::earlier, "unit = 4").first, 4);
  EXPECT_EQ(read(Names::earlier, "sru_width = 5").first, 5);
  ConfigReader before(ConfigTree::from_text("[model]\nunit = 4", "a.toml"));
  Index unit = 1;
  before.section("model").integer("unit", unit, "");
  EXPECT_EQ(read(Names::today, "sru_width = 4").second, before.resolved().hash());
}

TEST(ConfigKeys, an_added_key_at_its_default_leaves_the_hash_as_it_was) {
  const auto hash = [](const std::string& text, bool added) {
    ConfigReader reader(ConfigTree::from_text("[model]\n" + text, "a.toml"));
    Index width = 1, steps = 0;
    reader.section("model").integer("width", width, "");
    if (added) {
      reader.section("model").added("steps");
      reader.section("model").integer("steps", steps, "");
    }
    reader.finish();
    return reader.resolved().hash();
  };
  const std::string before = hash("width = 4", false);
  EXPECT_EQ(hash("width = 4", true), before);
  EXPECT_EQ(hash("width = 4\nsteps = 0", true), before);
  EXPECT_NE(hash("width = 4\nsteps = 3", true), before);
}

TEST(ConfigKeys, a_key_that_another_kind_added_later_stays_in_the_hash) {
  const auto hash = [](bool other_kind) {
    ConfigReader reader(ConfigTree::from_text("[data]\nkind = \"old\"", "a.toml"));
    core::Fields& data = reader.section("data");
    std::string kind = "old", units = "bytes";
    data.choice("kind", kind, "", {"old", "new"});
    if (other_kind)
      data.when("kind", {"new"}, [&] {
        data.added("units");
        data.text("units", units, "");
      });
    data.when("kind", {"old"}, [&] { data.text("units", units, ""); });
    reader.finish();
    return reader.resolved().hash();
  };
  EXPECT_EQ(hash(true), hash(false));
}

TEST(ConfigKeys, a_list_of_choices_of_one_is_the_choice_itself) {
  const auto read = [](const std::string& text, bool list) {
    ConfigReader reader(ConfigTree::from_text("[model]\n" + text, "a.toml"));
    core::Fields& model = reader.section("model");
    std::vector<std::string> many = {"dense"};
    std::string one = "dense";
    if (list)
      model.choices("ff", many, "", {"dense", "experts"});
    else
      model.choice("ff", one, "", {"dense", "experts"});
    bool found = false;
    model.when("ff", {"experts"}, [&] { model.flag("used", found, ""); });
    reader.finish();
    return reader.resolved().hash();
  };
  EXPECT_EQ(read("ff = 'experts'", true), read("ff = 'experts'", false));
  EXPECT_EQ(read("ff = ['dense']", true), read("", false));
  EXPECT_NE(read("ff = ['dense', 'experts']\nused = true", true), read("", true));
  EXPECT_EQ(refusal([&] { read("ff = ['dense', 'expert']", true); }),
            only("a.toml:2: model.ff[1] = \"expert\" must be one of dense, experts; did you mean "
                 "experts?"));
  EXPECT_EQ(refusal([&] { read("used = true", true); }),
            only("a.toml:2: model.used is used only with model.ff = \"experts\""));
}

TEST(ConfigKeys, tell_a_section_from_a_value) {
  EXPECT_EQ(refusal_of("attention = 3"),
            only("a.toml:1: attention = 3 must be a section, [attention]"));
  EXPECT_EQ(refusal_of("[attention]\nlocal = 3"),
            only("a.toml:2: attention.local = 3 must be a section, [attention.local]"));
}

TEST(ConfigKeys, find_lines_in_included_files) {
  const ConfigScratch scratch;
  scratch.write("base.toml", "\n\n[model]\nwdth = 3\n");
  const std::string top =
      scratch.write("a.toml", "include = 'base.toml'\n[model]\nwidth = 2\nhead = 2\n");
  ConfigReader reader(ConfigTree::load(top, {"model.widht=4"}));
  Index width = 0;
  reader.section("model").integer("width", width, "");
  reader.section("model").integer("heads", width, "");
  EXPECT_EQ(scratch.strip(refusal([&] { reader.finish(); })),
            "3 problems in the configuration, nothing was started\n"
            "  a.toml:4: unknown key model.head; did you mean model.heads?\n"
            "  base.toml:4: unknown key model.wdth; did you mean model.width?\n"
            "  command line: unknown key model.widht; did you mean model.width?");
}

}  // namespace
}  // namespace weft::experiments::config_keys_test
