// What users meet when they ask for help. The numbers are those of the papercuts and expectations
// that were found when weft was tried as a new user would.
#include <sstream>

#include "experiments/config/describing.h"
#include "layers/attention/origins.h"
#include "layers/attention/registry.h"
#include "layers/settings/model_settings.h"
#include "layers/settings/part_origins.h"
#include "tests/experiments/program.h"
#include "tests/places.h"

namespace weft::experiments::help_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

TEST(Row14, a_misspelt_verb_names_the_one_that_was_meant) {
  const Program program("verbs");
  expect_holds(program.run({"pedict"}).err, {"did you mean predict?"});
  expect_holds(program.run({"bench", "stpe"}).err, {"did you mean step?"});
  expect_holds(program.run({"list", "linera"}).err, {"did you mean linear?"});
}

TEST(Row14, attentions_have_one_line_each_and_their_origin_on_request) {
  const Program program("list");
  const std::string list = program.run({"list", "attentions"}).out;
  EXPECT_EQ(std::ranges::count(list, '\n'), std::ptrdiff_t(layers::attention_registry().size()));
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    ASSERT_NE(layers::find_origin(entry.kind), nullptr)
        << "add the formula and the paper of " << entry.kind << " to layers/attention/origins.cpp";
    EXPECT_NE(("\n" + list).find("\n" + entry.kind + " "), std::string::npos) << entry.kind;
  }
  expect_holds(program.run({"list", "lsh"}).out,
               {"Reformer", "arXiv:2001.04451", "hash(", "attention.NAME.rounds"});
  expect_holds(program.run({"list", "labelled"}).out, {"data.label_column"});
}

/// How many characters are blocks, which all begin with the same two bytes.
std::ptrdiff_t blocks_in(const std::string& text) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = text.find("\xE2\x96", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Row14, every_attention_is_listed_with_a_picture_of_what_it_reads) {
  const Program program("pictures");
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    const Outcome outcome = program.run({"list", entry.kind});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    expect_holds(outcome.out, {entry.kind + ": ", "What a head reads of 512 random tokens"});
    EXPECT_GE(blocks_in(outcome.out), 24) << entry.kind << ": " << outcome.out;
  }
}

TEST(Row14, the_page_of_pictures_is_that_of_this_program) {
  const Program program("page_of_pictures");
  const Outcome made = program.run({"list", "attentions", "--pictures"});
  ASSERT_EQ(made.code, 0) << made.err;
  std::istringstream now(made.out);
  std::istringstream kept(read_text(source_dir() + "/layers/attention/pictures.md"));
  int differ = 0;
  std::string a, b;
  while (true) {
    const bool more = bool(std::getline(now, a)), as_many = bool(std::getline(kept, b));
    EXPECT_EQ(more, as_many);
    if (!more || !as_many) break;
    if (blocks_in(a) == 0) {
      EXPECT_EQ(a, b);
    }
    differ += a != b;
  }
  // Other instruction sets round otherwise, which may change a shade.
  EXPECT_LE(differ, 5) << "weft list attentions --pictures >layers/attention/pictures.md";
}

/// The values that a setting of [model] accepts.
std::vector<std::string> values_of(const std::string& key) {
  std::vector<std::string> values;
  for (const FieldDescription& setting : describe(layers::ModelSettings{})) {
    if (setting.key != key) continue;
    std::istringstream type(setting.type.substr(0, setting.type.find(',')));
    for (std::string word; type >> word;)
      if (word != "|") values.push_back(word);
  }
  return values;
}

/// Expects `weft list VERB` to have a line for each part, and the parts all values of a setting.
void expect_listed(const Program& program, const std::string& verb, const std::string& setting,
                   std::span<const layers::PartOrigin> parts) {
  const std::string list = program.run({"list", verb}).out;
  EXPECT_EQ(std::ranges::count(list, '\n'), std::ptrdiff_t(parts.size()));
  const std::string all = program.run({"list", verb, "--all"}).out;
  for (const layers::PartOrigin& part : parts) {
    EXPECT_NE(("\n" + list).find("\n" + std::string(part.name) + " "), std::string::npos);
    const std::string own = program.run({"list", std::string(part.name)}).out;
    expect_holds(own, {std::string(part.formula), std::string(part.paper), "arXiv:"});
    expect_holds(all, {std::string(part.formula), std::string(part.paper)});
  }
  const std::vector<std::string> values = values_of(setting);
  EXPECT_FALSE(values.empty());
  for (const std::string& value : values)
    EXPECT_TRUE(std::ranges::any_of(
        parts, [&](const auto& part) { return part.setting == setting && part.value == value; }))
        << "add the formula and the paper of " << value << " to layers/settings/part_origins.cpp";
}

TEST(Row14, trunks_and_feed_forwards_are_listed_and_explained_like_attentions) {
  const Program program("parts");
  expect_listed(program, "trunks", "trunk", layers::trunk_origins());
  expect_listed(program, "feedforwards", "feedforward", layers::feed_forward_origins());
  const auto shown = [&](const std::string& name) { return program.run({"list", name}).out; };
  expect_holds(shown("star"), {"star (trunk): ", "model.trunk = \"star\"", "model.star_ring"});
  expect_holds(shown("universal"), {"model.steps = 6\n", "model.halting", "halt_epsilon"});
  expect_holds(shown("experts"), {"model.ff_experts", "with model.ff_choices of 2 or more\n"});
  expect_holds(shown("memory"), {"Product Keys", "model.memory_keys"});
  EXPECT_EQ(shown("experts").find("model.memory_keys"), std::string::npos);
  EXPECT_EQ(shown("transformer").find("model.ff_experts"), std::string::npos);
  expect_holds(shown("dense"), {"dense: ", "dense (feed-forward): ", "model.activation"});
  expect_holds(program.run({"list", "univresal"}).err, {"did you mean universal?"});
}

TEST(Row14, three_shells_complete_verbs_and_settings) {
  const Program program("shells");
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome script = program.run({"completion", shell});
    ASSERT_EQ(script.code, 0) << script.err;
    expect_holds(script.out,
                 {"predict", "dedup", "trunks feedforwards", "optim.lr=", "attention.lsh.rounds="});
    program.write(shell, script.out);
    const std::string command = "cd " + program.directory().string() + " && command -v " + shell +
                                " >/dev/null && ! " + shell + " -n " + shell;
    EXPECT_NE(std::system(command.c_str()), 0) << shell << " finds mistakes";
  }
  EXPECT_EQ(program.run({"completion", "ksh"}).code, 2);
}

TEST(Row14, every_verb_has_a_page_of_the_manual) {
  const Program program("manual");
  ASSERT_EQ(program.run({"help", "--man-pages", "man1"}).code, 0);
  for (const char* page : {"weft.1", "weft-train.1", "weft-predict.1", "weft-bench.1",
                           "weft-bench-step.1", "weft-data-prepare.1", "weft-runs.1"}) {
    const std::string text = read_text(program.directory() / "man1" / page);
    expect_holds(text, {".TH WEFT", ".SH NAME"});
  }
  const Outcome one = program.run({"help", "--man", "predict"});
  EXPECT_EQ(one.out, read_text(program.directory() / "man1/weft-predict.1"));
  expect_holds(one.out, {"\\-\\-column NAME", ".SH OPTIONS"});
  std::size_t pages = 0;
  for (const auto& page : fs::directory_iterator(program.directory() / "man1")) {
    ++pages;
    const std::string command =
        "command -v man >/dev/null && ! man --warnings -E UTF-8 -l -Tutf8 " + page.path().string() +
        " >/dev/null 2>&1";
    EXPECT_NE(std::system(command.c_str()), 0) << page.path();
  }
  EXPECT_GT(pages, 20u);
}

TEST(Papercut15, help_for_a_verb_is_about_the_verb) {
  const Program program("help");
  const Outcome help = program.run({"help", "train"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.out, program.run({"train", "--help"}).out);
  expect_holds(help.out, {"weft train CONFIG"});
}

}  // namespace
}  // namespace weft::experiments::help_test
