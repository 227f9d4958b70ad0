#include <cmath>
#include <cstring>

#include "experiments/config/reader.h"
#include "experiments/config/resolved.h"
#include "tests/experiments/config/config_scratch.h"

namespace weft::experiments::config_resolved_test {
namespace {

struct Part {
  std::string name = "x";
  std::vector<Part> parts;

  void fields(core::Fields& f) {
    f.text("name", name, "");
    for (auto& table : f.tables("parts", "")) parts.emplace_back().fields(*table);
  }
  bool operator==(const Part&) const = default;
};

struct Everything {
  Index integer = -3;
  double number = 0.1;
  bool flag = false;
  std::string text = "plain";
  std::string choice = "a";
  std::vector<Index> integers = {1};
  std::vector<double> numbers;
  std::vector<std::string> texts = {"x"};
  Part root;

  void fields(core::Fields& f) {
    f.integer("integer", integer, "");
    f.number("number", number, "");
    f.flag("flag", flag, "");
    root.fields(f);
    f.text("text", text, "");
    f.choice("choice", choice, "", {"a", "b"});
    f.integers("integers", integers, "");
    f.numbers("numbers", numbers, "");
    f.texts("texts", texts, "");
  }
  bool operator==(const Everything&) const = default;
};

struct SmallRun {
  Index seed = 1;
  Index threads = 2;
  Everything deep;
  std::string toml, hash, listing;

  explicit SmallRun(ConfigTree tree) {
    ConfigReader reader(std::move(tree));
    deep.fields(reader.section("deep.section"));
    reader.section("").integer("seed", seed, "");
    reader.section("").integer("threads", threads, "");
    reader.finish();
    toml = reader.resolved_toml();
    hash = reader.resolved().hash({"threads"});
    listing = reader.resolved().listing();
  }
};

SmallRun run(const std::string& text, const std::vector<std::string>& arguments = {}) {
  return SmallRun(ConfigTree::from_text(text, "a.toml", arguments));
}

TEST(ResolvedConfig, writes_every_value_in_listing_order_top_level_first) {
  EXPECT_EQ(
      run("threads = 4\n[deep.section]\ninteger = 1e6\nnumber = 3\nparts = [{}, {name = 'y'}]\n")
          .toml,
      "seed = 1\n"
      "threads = 4\n"
      "\n"
      "[deep.section]\n"
      "integer = 1000000\n"
      "number = 3.0\n"
      "flag = false\n"
      "name = \"x\"\n"
      "text = \"plain\"\n"
      "choice = \"a\"\n"
      "integers = [1]\n"
      "numbers = []\n"
      "texts = [\"x\"]\n"
      "\n"
      "[[deep.section.parts]]\n"
      "name = \"x\"\n"
      "\n"
      "[[deep.section.parts]]\n"
      "name = \"y\"\n");
}

TEST(ResolvedConfig, gives_equal_values_when_read_again) {
  const SmallRun first =
      run("seed = -9223372036854775808\n[deep.section]\ninteger = 2147483647\n"
          "number = 0.30000000000000004\nflag = true\n"
          "text = \"tab\\t line\\n quote\\\" back\\\\slash é \\u0001\\u007f\\u0000 end\"\n"
          "choice = 'b'\nintegers = [3, -2]\n"
          "numbers = [1e-300, -0.0, 5e-324, 1.7976931348623157e308, inf, -inf, 1e22, 123456.75]\n"
          "texts = ['', 'a', 'b c']\n"
          "parts = [{name = 'p', parts = [{name = 'p0'}, {parts = [{}]}]}, {parts = [{name = "
          "'q0'}]}]\n");
  const SmallRun second = run(first.toml);
  EXPECT_TRUE(first.deep == second.deep);
  EXPECT_EQ(first.seed, second.seed);
  EXPECT_EQ(first.toml, second.toml);
  EXPECT_EQ(first.hash, second.hash);
  ASSERT_EQ(second.deep.numbers.size(), 8u);
  EXPECT_TRUE(std::signbit(second.deep.numbers[1]));
  EXPECT_EQ(second.deep.root.parts.at(0).parts.at(1).parts.size(), 1u);
  EXPECT_EQ(second.deep.root.parts.at(1).parts.at(0).name, "q0");
}

TEST(ResolvedConfig, gives_equal_numbers_for_many_bit_patterns) {
  std::uint64_t bits = 0x9E3779B97F4A7C15;
  Everything written;
  for (int i = 0; i < 500; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) written.numbers.push_back(value);
  }
  ConfigReader reader{ConfigTree{}};
  written.fields(reader.section(""));
  Everything read;
  ConfigReader again(ConfigTree::from_text(reader.resolved_toml(), "a.toml"));
  read.fields(again.section(""));
  EXPECT_TRUE(read == written);
}

TEST(ResolvedConfig, hashes_values_and_nothing_else) {
  const std::string hash = run("seed = 5\n[deep.section]\ninteger = 7\nflag = true\n").hash;
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(hash,
            run("# x\n[deep.section]\nflag = true\ninteger = 7.0\n[deep]\n", {"seed=5"}).hash);
  EXPECT_EQ(hash, run("", {"deep.section.integer=7", "seed=5", "deep.section.flag=true"}).hash);
  EXPECT_EQ(hash, run("seed = 5\nthreads = 64\n[deep.section]\ninteger = 7\nflag = true\n").hash);
  EXPECT_EQ(hash, run("seed = 5\n[deep.section]\ninteger = 7\nflag = true\nchoice = 'a'\n").hash);
  EXPECT_NE(hash, run("seed = 6\n[deep.section]\ninteger = 7\nflag = true\n").hash);
  EXPECT_NE(hash, run("seed = 5\n[deep.section]\ninteger = 8\nflag = true\n").hash);
}

TEST(ResolvedConfig, keeps_its_hash_from_release_to_release) {
  ResolvedConfig config;
  config.record("", "seed", "1", {});
  config.record("model", "width", "64", {});
  EXPECT_EQ(config.toml(), "seed = 1\n\n[model]\nwidth = 64\n");
  EXPECT_EQ(config.hash(), "58c3be0e32070537");
}

TEST(ResolvedConfig, lists_who_set_each_value) {
  const ConfigScratch scratch;
  const std::string path = scratch.write("a.toml", "[deep.section]\nnumber = 1e-6\nparts = [{}]\n");
  const std::string name(30, 'y');
  const SmallRun run(
      ConfigTree::load(path, {"threads=8", core::message_of("deep.section.texts=['", name, "']")}));
  EXPECT_EQ(scratch.strip(run.listing),
            "seed = 1                          # default\n"
            "threads = 8                       # command line\n"
            "deep.section.integer = -3         # default\n"
            "deep.section.number = 1e-6        # a.toml:2\n"
            "deep.section.flag = false         # default\n"
            "deep.section.name = \"x\"           # default\n"
            "deep.section.text = \"plain\"       # default\n"
            "deep.section.choice = \"a\"         # default\n"
            "deep.section.integers = [1]       # default\n"
            "deep.section.numbers = []         # default\n"
            "deep.section.texts = [\"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\"]  # command line\n"
            "deep.section.parts[0].name = \"x\"  # default\n");
}

}  // namespace
}  // namespace weft::experiments::config_resolved_test
