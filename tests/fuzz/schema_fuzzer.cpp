// Configs made of the schema itself: keys that exist, with values at and beyond the ends of what
// their types allow. Most of them get past the parser, to the checks of the sections.
#include <array>

#include "experiments/config/text.h"
#include "experiments/run/run_config.h"
#include "layers/attention/registry.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/resolved_config.h"

namespace weft::fuzz {
namespace {

using namespace experiments;

constexpr std::array whole_numbers = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "4",
                                      "7",
                                      "8",
                                      "16",
                                      "64",
                                      "100",
                                      "4096",
                                      "65536",
                                      "1000000",
                                      "2147483647",
                                      "2147483648",
                                      "4294967296",
                                      "1099511627776",
                                      "-1",
                                      "-2",
                                      "4611686018427387904",
                                      "9223372036854775807",
                                      "-9223372036854775808"};
constexpr std::array numbers = {"0.0",   "1.0",    "0.5", "-1.0", "1e-9", "1e9", "1e18",
                                "1e300", "5e-324", "inf", "-inf", "nan",  "0.1", "-0.0"};
constexpr std::array texts = {
    "\"\"",    "\"a\"",    "\"1/2\"",      "\"\\u0000\"", "\"\xe2\x82\xac\"",
    "\"10m\"", "\"../x\"", "\"/dev/null\""};

template <std::size_t N>
std::string one_of(const std::array<const char*, N>& values, InputBytes& input) {
  return values[input.below(N)];
}

std::vector<std::string> options_in(std::string type) {
  type = type.substr(0, type.find(", or a list"));
  std::vector<std::string> options;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = type.find(" | ", at);
    options.push_back(type.substr(at, end - at));
    at = end == std::string::npos ? end : end + 3;
  }
  return options;
}

/// A value for a key of this type, now and then of another.
std::string scalar_for(const std::string& type, InputBytes& input) {
  const std::size_t kind = input.below(16);
  if (kind == 0) return one_of(texts, input);
  if (kind == 1) return one_of(numbers, input);
  if (kind == 2) return "true";
  if (type.find("integer") != std::string::npos)
    return kind < 12 ? one_of(whole_numbers, input) : std::to_string(input.below(64));
  if (type.find("number") != std::string::npos) return one_of(numbers, input);
  if (type == "true | false") return input.below(2) ? "true" : "false";
  if (type.find(" | ") == std::string::npos) return one_of(texts, input);
  const std::vector<std::string> options = options_in(type);
  return toml_text(options[input.below(options.size())]);
}

std::string value_for(const std::string& type, InputBytes& input) {
  const bool listed = type.find("list of") != std::string::npos;
  if (input.below(8) != 0 && !listed) return scalar_for(type, input);
  std::string list;
  for (std::size_t count = input.below(5); count > 0; --count)
    list += (list.empty() ? "" : ", ") + scalar_for(type, input);
  return "[" + list + "]";
}

/// section.key=value for a key of the schema. Attention is chosen more often than other keys, since
/// most sections belong to a mechanism.
std::string argument_from(const std::vector<SectionDescription>& schema, InputBytes& input) {
  if (input.below(6) == 0) {
    const auto kinds = layers::attention_kinds();
    return "model.attention=\"" + std::string(kinds[input.below(kinds.size())]) + "\"";
  }
  const SectionDescription& section = schema[input.below(schema.size())];
  if (section.keys.empty()) return section.section + "=1";
  const FieldDescription& field = section.keys[input.below(section.keys.size())];
  const std::size_t tables = field.key.find("[].");
  const std::string value = value_for(field.type, input);
  if (tables == std::string::npos) return join_path(section.section, field.key) + "=" + value;
  return join_path(section.section, field.key.substr(0, tables)) + "=[{" +
         field.key.substr(tables + 3) + "=" + value + "}]";
}

}  // namespace

void fuzz_config(std::string_view bytes) {
  static const std::vector<SectionDescription> schema = describe_sections();
  InputBytes input(bytes);
  std::vector<std::string> arguments;
  while (!input.at_end() && arguments.size() < 24)
    arguments.push_back(argument_from(schema, input));
  use_config(RunConfig::from_text("", "schema", arguments));
}

}  // namespace weft::fuzz
