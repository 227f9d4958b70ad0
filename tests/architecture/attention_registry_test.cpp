#include <algorithm>

#include "tests/architecture/source_tree.h"

namespace weft::architecture::attention_registry_test {
namespace {

const std::string registry = "layers/attention/registry.cpp";

// The X(kind) entries of the table in registry.cpp.
std::vector<std::string> registered_kinds() {
  std::string table;
  for (const File& file : files_under({"layers/attention"}, {"registry.cpp"})) table = file.text();
  const auto begin = table.find("#define WEFT_ATTENTIONS(X)");
  if (begin == std::string::npos) return {};
  std::size_t end = begin;  // of the first line that goes on with no backslash
  do end = table.find('\n', end + 1);
  while (end != std::string::npos && table[end - 1] == '\\');
  return all_matches(table.substr(begin, end - begin), "\\bX\\((\\w+)\\)");
}

bool uses(const File& config, const std::string& kind) {
  const std::string line = "^[^#]*\\b(kind|attention)\\s*=.*\"" + kind + "\"";
  return std::ranges::any_of(config.lines, [&](const auto& text) { return has_match(text, line); });
}

TEST(AttentionRegistry, every_mechanism_has_a_file_of_its_name) {
  const auto kinds = registered_kinds();
  ASSERT_FALSE(kinds.empty()) << "no X(kind) found in " << registry << ": has the table changed "
                              << "its form? Then change this test as well.";
  for (const std::string& kind : kinds) {
    const auto files = files_under({"layers/attention"}, {kind + ".cpp"});
    const bool found = std::ranges::any_of(files, [&](const File& file) {
      return file.path == "layers/attention/" + kind + ".cpp" &&
             file.text().find(" configure_" + kind + "(") != std::string::npos;
    });
    EXPECT_TRUE(found) << registry << " lists " << kind << ": define configure_" << kind
                       << " in layers/attention/" << kind << ".cpp.";
  }
}

TEST(AttentionRegistry, every_mechanism_has_a_config) {
  const auto configs = files_under({"configs"}, {".toml"});
  for (const std::string& kind : registered_kinds())
    EXPECT_TRUE(std::ranges::any_of(configs, [&](const File& c) { return uses(c, kind); }))
        << registry << " lists " << kind << ", but no config uses it: add configs/mechanisms/"
        << kind << ".toml with attention = \"" << kind << "\", or kind = \"" << kind
        << "\" in an [attention.NAME] table.";
}

TEST(AttentionRegistry, every_mechanism_is_in_the_map_of_engines) {
  std::string map;
  for (const File& file : files_under({"layers/attention"}, {"README.md"}))
    if (file.path == "layers/attention/README.md") map = file.text();
  for (const std::string& kind : registered_kinds())
    EXPECT_TRUE(has_match(map, "\\b" + kind + "\\b"))
        << registry << " lists " << kind
        << ": name it in layers/attention/README.md, in the row of "
        << "the engine that computes it.";
}

TEST(AttentionRegistry, every_config_opens_with_what_it_shows) {
  for (const File& config : files_under({"configs"}, {".toml"}))
    EXPECT_TRUE(!config.lines.empty() && config.lines[0].starts_with("# "))
        << config.path << ": open it with a comment that says what it shows and what to expect.";
}

}  // namespace
}  // namespace weft::architecture::attention_registry_test
