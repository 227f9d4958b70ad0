#include <sys/stat.h>

#include "experiments/config/reader.h"
#include "experiments/run/run_config.h"
#include "tests/experiments/config/config_scratch.h"

namespace weft::experiments::config_hostile_test {
namespace {

std::string refusal_of(const std::string& text) {
  return refusal([&] { ConfigTree::from_text(text, "a.toml"); });
}

std::string repeat(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

const std::string one_problem = "1 problem in the configuration, nothing was started\n  ";

TEST(HostileConfig, names_the_line_of_bytes_that_are_not_utf8) {
  EXPECT_EQ(refusal_of("a = 1\nb = \"\xff\"\n"),
            one_problem + "a.toml:2: not valid TOML: Encountered invalid utf-8 sequence");
}

TEST(HostileConfig, refuses_an_argument_that_is_not_utf8) {
  EXPECT_EQ(
      refusal([] { ConfigTree::from_text("", "a.toml", {"data.path=caf\xe9"}); }),
      one_problem + "command line: data.path: not valid TOML: Encountered invalid utf-8 sequence");
}

TEST(HostileConfig, names_the_line_of_a_key_given_twice) {
  EXPECT_EQ(refusal_of("[model]\nheads = 1\nwidth = 2\nheads = 3\n"),
            one_problem +
                "a.toml:4: not valid TOML: Error while parsing key-value pair: cannot redefine "
                "existing integer 'heads'");
}

TEST(HostileConfig, refuses_a_file_that_is_no_config_by_its_size) {
  const ConfigScratch scratch;
  const std::string path = scratch.write("big.toml", repeat("# nothing but a comment\n", 50000));
  EXPECT_EQ(scratch.strip(refusal([&] { ConfigTree::load(path); })),
            one_problem +
                "command line: cannot read the config file big.toml: it is larger than "
                "1 MiB; is it the right file?");
}

TEST(HostileConfig, refuses_binary_files) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += char(i * 37);
  EXPECT_TRUE(refusal_of(bytes).starts_with(one_problem + "a.toml:"));
  EXPECT_TRUE(refusal_of(std::string(100, '\0')).starts_with(one_problem + "a.toml:1: "));
}

TEST(HostileConfig, refuses_absurd_depth_however_it_is_written) {
  const auto text = [](const auto&... parts) { return core::message_of(parts...); };
  const std::string endless = one_problem + "a.toml: a key has more than 32 parts";
  const std::string too_deep = one_problem + "a.toml:1: values nest more than 64 deep";
  EXPECT_EQ(refusal_of(text("a", repeat(".a", 200000), " = 1")), endless);
  EXPECT_EQ(refusal_of(text("[a", repeat(".\"a\"", 100000), "]")), endless);
  EXPECT_EQ(refusal_of(text("x = 1 # it's\n[a", repeat(" . 'a'", 100000), "]")), endless);
  EXPECT_EQ(refusal_of(text("a = ", repeat("[", 100), repeat("]", 100))), too_deep);
  EXPECT_TRUE(
      refusal_of(text("a = ", repeat("[", 100000))).starts_with(one_problem + "a.toml:1: "));
  EXPECT_EQ(refusal_of(text("x = [\"\"\"q\"\"\"\", {a", repeat(".a", 100000), " = 1}]")), endless);
  const std::string link = text("a", repeat(".a", 30), " = {");
  EXPECT_EQ(refusal_of(text(repeat(link, 250), repeat("}", 250))), too_deep);
  const std::string argument = text("a", repeat(".a", 60000), "=1");
  EXPECT_EQ(refusal([&] { ConfigTree::from_text("", "a.toml", {argument}); }),
            text(one_problem, "command line: \"a", repeat(".a", 29),
                 "... is no key; write section.key=value"));
}

TEST(HostileConfig, takes_long_prose_for_a_value) {
  const std::string prose = repeat("A sentence. And one more. ", 30);
  for (const std::string fence : {"\"", "'", "\"\"\"", "'''"}) {
    const ConfigTree tree = ConfigTree::from_text("prompt = " + fence + prose + fence, "a.toml");
    EXPECT_EQ(std::get<std::string>(tree.find("prompt")->value), prose);
  }
}

TEST(HostileConfig, reports_a_hundred_thousand_problems) {
  std::string text = core::message_of("sizes = [", repeat("0,", 50000), "]\n[model]\n");
  for (int i = 0; i < 50000; ++i) text += core::message_of("k", i, " = 1\n");
  ConfigReader reader(ConfigTree::from_text(text, "a.toml"));
  std::vector<Index> sizes;
  reader.section("").integers("sizes", sizes, "", core::at_least(1));
  reader.section("model").integers("kinds", sizes, "");
  EXPECT_TRUE(refusal([&] { reader.finish(); }).starts_with("100000 problems"));
}

TEST(HostileConfig, refuses_unknown_keys_and_tables_by_the_ten_thousand) {
  std::string keys = "[model]\n";
  for (int i = 0; i < 60'000; ++i) keys += core::message_of("k", i, " = 1\n");
  EXPECT_TRUE(refusal([&] { RunConfig::from_text(keys, "a.toml"); }).starts_with("60000 problems"));
  const std::string atoms = "[model]\nattention = 'pattern'\n[attention.pattern]\natoms = [";
  const std::string said =
      refusal([&] { RunConfig::from_text(atoms + repeat("{},", 100'000) + "]\n", "a.toml"); });
  EXPECT_EQ(said,
            one_problem + "a.toml:4: attention.pattern.atoms lists 100000 tables, more than 1000");
}

TEST(HostileConfig, refuses_a_chain_of_includes_and_very_many_of_them) {
  const ConfigScratch scratch;
  for (int i = 0; i < 60; ++i)
    scratch.write(core::message_of(i, ".toml"), core::message_of("include = '", i + 1, ".toml'\n"));
  scratch.write("60.toml", "seed = 1\n");
  EXPECT_NE(refusal([&] { ConfigTree::load(scratch.path("0.toml")); }).find("32 inside each other"),
            std::string::npos);
  const std::string wide =
      scratch.write("wide.toml", "include = [" + repeat("'60.toml',", 50'000) + "]\n");
  EXPECT_NE(refusal([&] { ConfigTree::load(wide); }).find("more than 1000 includes"),
            std::string::npos);
}

TEST(HostileConfig, does_not_wait_for_a_pipe_that_is_included) {
  const ConfigScratch scratch;
  ASSERT_EQ(::mkfifo(scratch.path("pipe.toml").c_str(), 0600), 0);
  const std::string top = scratch.write("a.toml", "include = 'pipe.toml'\n");
  EXPECT_NE(refusal([&] { ConfigTree::load(top); }).find("it is no file"), std::string::npos);
}

TEST(HostileConfig, a_config_of_the_longest_sequences_draws_no_random_blocks) {
  for (const std::string attention : {"random", "bigbird"})
    EXPECT_EQ(refusal([&] {
                RunConfig::from_text("", "a.toml",
                                     {"data.length=16777216", "model.attention=" + attention});
              }),
              "");
}

TEST(HostileConfig, refuses_dates_and_odd_keys) {
  EXPECT_EQ(refusal_of("[data]\nday = 2024-01-01\n\"a b\" = 1\n"),
            "2 problems in the configuration, nothing was started\n"
            "  a.toml:2: data.day is a date or time; put it in quotes to make it text\n"
            "  a.toml:3: the key \"a b\" must be made of letters, digits, _ and -");
}

TEST(HostileConfig, survives_every_prefix_and_every_broken_byte_of_a_config) {
  const std::string text =
      "seed = 1\n[model]\nwidth = 64\nattention = ['a', \"b\"]\n[attention.mix]\n"
      "groups = [{kind = 'local', heads = 2}]\n[[list]]\nx = 1.5e3\n";
  const auto read = [](const std::string& config) {
    refusal([&] {
      ConfigReader reader(ConfigTree::from_text(config, "a.toml"));
      Index seed = 0;
      reader.section("").integer("seed", seed, "");
      reader.section("model");
      for (auto& group : reader.section("attention.mix").tables("groups", ""))
        group->integer("heads", seed, "");
      reader.finish();
    });
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    read(text.substr(0, i));
    for (const char c : {'\0', '=', '[', '"', '\xff', '.', '\n', '}'}) {
      std::string broken = text;
      broken[i] = c;
      read(broken);
    }
  }
}

}  // namespace
}  // namespace weft::experiments::config_hostile_test
