// Whatever a component reads under any of its variants is in the key reference, with the condition
// under which it exists, in completion and in its mechanism's entry of `weft list attentions`.
#include <set>

#include "experiments/run/run_config.h"
#include "layers/attention/registry.h"
#include "tests/experiments/program.h"

namespace weft::experiments::every_key_test {
namespace {

/// The keys that a section resolves to when its own text is `toml`.
std::set<std::string> keys_read(const std::string& section, const std::string& toml) {
  const bool is_attention = section == "attention.NAME";
  const std::string table = is_attention ? "attention.x" : section;
  ConfigReader reader(
      ConfigTree::from_text((table.empty() ? "" : "[" + table + "]\n") + toml, "a.toml"));
  RunConfig config;
  core::Fields& fields = reader.section(table);
  if (section == "data") config.data.fields(fields);
  if (section == "model") config.model.fields(fields);
  if (section == "optim") config.optim.fields(fields);
  if (section == "train") config.train.fields(fields);
  if (section == "sample") config.sample.fields(fields);
  if (is_attention) layers::read_attention(fields, "dense", config.model.site(1024));
  std::set<std::string> keys;
  for (const auto& [path, value] : reader.resolved().values())
    if (table.empty() || path.starts_with(table + "."))
      keys.insert(path.substr(table.empty() ? 0 : table.size() + 1));
  return keys;
}

std::string line(const std::string& key, const std::string& value) {
  const bool is_flag = value == "true" || value == "false";
  return key + " = " + (is_flag ? value : "\"" + value + "\"") + "\n";
}

/// A config under which the conditions hold; nothing when one is a computed fact.
std::optional<std::string> toml_for(const std::vector<core::FieldCondition>& conditions) {
  std::string toml;
  for (const core::FieldCondition& condition : conditions) {
    if (condition.key.empty()) return std::nullopt;
    toml += line(condition.key, condition.values.front());
  }
  return toml;
}

/// What can be written for a setting that others may depend on: each option of a choice or a flag.
std::vector<std::string> options_of(const FieldDescription& setting) {
  std::vector<std::string> options;
  if (setting.type.find(" | ") == std::string::npos) return options;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t bar = setting.type.find(" | ", at);
    options.push_back(setting.type.substr(at, bar - at));
    at = bar == std::string::npos ? bar : bar + 3;
  }
  return options;
}

bool is_in_a_list(const FieldDescription& setting) {
  return setting.key.find('[') != std::string::npos || setting.type == "list of tables";
}

TEST(EveryKey, is_read_under_the_condition_that_the_reference_names) {
  for (const auto& [section, settings] : describe_sections()) {
    if (section.empty()) continue;
    for (const FieldDescription& setting : settings) {
      const auto toml = toml_for(setting.conditions);
      if (!toml || is_in_a_list(setting)) continue;
      EXPECT_TRUE(keys_read(section, *toml).contains(setting.key))
          << section << '.' << setting.key << " under\n"
          << *toml;
    }
  }
}

TEST(EveryKey, that_any_variant_reads_is_in_the_reference) {
  int variants = 0;
  for (const auto& [section, settings] : describe_sections()) {
    std::set<std::string> known;
    for (const FieldDescription& setting : settings) known.insert(setting.key);
    for (const FieldDescription& setting : settings) {
      const auto toml = toml_for(setting.conditions);
      if (!toml || is_in_a_list(setting)) continue;
      for (const std::string& option : options_of(setting)) {
        for (const std::string& key : keys_read(section, *toml + line(setting.key, option)))
          EXPECT_TRUE(known.contains(key)) << section << '.' << key;
        ++variants;
      }
    }
  }
  EXPECT_GT(variants, 100);
}

TEST(EveryKey, is_printed_completed_and_listed_with_its_mechanism) {
  const Program program("every_key");
  const std::string reference = program.run({"config", "--keys"}).out;
  const std::string completion = program.run({"completion", "bash"}).out;
  const std::string list = program.run({"list", "attentions", "--all"}).out;
  for (const auto& [section, settings] : describe_sections())
    for (const FieldDescription& setting : settings) {
      const std::string path = join_path(section, setting.key);
      EXPECT_NE(("\n" + reference).find("\n" + path + " "), std::string::npos) << path;
      if (!setting.conditions.empty()) {
        EXPECT_NE(reference.find("with " + condition_text(setting.conditions) + "\n"),
                  std::string::npos)
            << path;
      }
      if (section != "attention.NAME" && !is_in_a_list(setting)) {
        EXPECT_NE(completion.find(" " + path + "= "), std::string::npos) << path;
      }
    }
  const layers::AttentionSite site = layers::ModelSettings{}.site(1024);
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    const std::size_t begin = ("\n" + list).find("\n" + std::string(entry.kind) + ": ");
    ASSERT_NE(begin, std::string::npos) << entry.kind;
    const std::string own = list.substr(begin, list.find("\n\n", begin) - begin);
    DescribingFields fields;
    entry.configure(fields, site);
    for (const FieldDescription& setting : fields.descriptions()) {
      EXPECT_NE(own.find("attention.NAME." + setting.key + " "), std::string::npos)
          << entry.kind << ": " << setting.key << " in\n"
          << own;
      if (is_in_a_list(setting)) continue;
      const std::string path = "attention." + std::string(entry.kind) + "." + setting.key + "=";
      EXPECT_NE(completion.find(path + " "), std::string::npos) << path;
    }
  }
}

}  // namespace
}  // namespace weft::experiments::every_key_test
