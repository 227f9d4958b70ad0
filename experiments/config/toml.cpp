#include "experiments/config/toml.h"

#include <toml++/toml.h>

#include <algorithm>

#include "experiments/config/text.h"

namespace weft::experiments {
namespace {

// toml++ recurses over nested values and bounds those, but not the parts of a dotted key.
constexpr Index most_key_parts = 32;
constexpr Index deepest_value = 64;

/// Where the quoted text that begins at `at` ends: at its last quote, or at the end of its line.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const bool is_long = rest.starts_with("\"\"\"") || rest.starts_with("'''");
  const std::string_view fence = rest.substr(0, is_long ? 3 : 1);
  for (std::size_t i = at + fence.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && fence[0] == '"')
      ++i;
    else if (text.substr(i).starts_with(fence))
      return is_long ? text.find_first_not_of(fence[0], i) - 1 : i;  // """a "quoted" end""""
    else if (text[i] == '\n' && !is_long)
      return i - 1;
  }
  return text.size();
}

/// Whether some dotted key has more parts than any config needs.
bool has_endless_key(std::string_view text) {
  Index dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') i = end_of_quoted(text, i);
    if (c == '#') i = std::min(text.find('\n', i), text.size());
    if (std::string_view("#\n=,{}[]").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots >= most_key_parts) return true;
  }
  return false;
}

/// Turns the parser's nodes into ours.
class Conversion {
 public:
  Conversion(const std::string& file, std::vector<ConfigProblem>& problems)
      : file_(file), problems_(problems) {}

  ConfigNode convert(const toml::node& node, const toml::source_position& position,
                     const std::string& path, Index depth) {
    ConfigNode result;
    result.origin = at(position);
    if (depth > deepest_value)
      report(result.origin, "values nest more than " + std::to_string(deepest_value) + " deep");
    else if (const toml::table* table = node.as_table())
      result.value = convert_table(*table, path, depth);
    else if (const toml::array* array = node.as_array())
      result.value = convert_list(*array, path, depth);
    else
      convert_scalar(node, path, result);
    return result;
  }

 private:
  ConfigOrigin at(const toml::source_position& position) const {
    return {ConfigOrigin::Place::file, file_, Index(position.line), Index(position.column)};
  }

  void report(const ConfigOrigin& origin, const std::string& message) {
    problems_.push_back({origin, "", message});
  }

  /// A quoted "model.width" means what a bare model.width does.
  ConfigNode::Table convert_table(const toml::table& table, const std::string& path, Index depth) {
    ConfigNode result;
    for (const auto& [key, node] : table) {
      const ConfigOrigin origin = at(key.source().begin);
      const std::vector<std::string> parts = parts_of(key.str());
      if (!std::ranges::all_of(parts, is_plain_key) || Index(parts.size()) > most_key_parts)
        report(origin, "the key " + quote(key.str()) + " must be made of letters, digits, _ and -");
      else
        put(result, parts, join_path(path, key.str()),
            convert(node, key.source().begin, join_path(path, key.str()), depth + 1));
    }
    return std::move(*result.table());
  }

  /// Puts a value where its key leads, through tables that are there or made.
  void put(ConfigNode& root, const std::vector<std::string>& parts, const std::string& path,
           ConfigNode value) {
    ConfigNode* node = &root;
    for (const std::string& part : parts) {
      if (!node->table()) return report(value.origin, path + " is given twice, in two ways");
      const auto [place, is_new] = node->table()->try_emplace(part);
      if (is_new) place->second.origin = value.origin;
      node = &place->second;
      if (is_new && &part == &parts.back()) {
        *node = std::move(value);
        return;
      }
    }
    if (node->table() && value.table())
      lay_over(*node, std::move(value));
    else
      report(value.origin, path + " is given twice, in two ways");
  }

  ConfigNode::List convert_list(const toml::array& array, const std::string& path, Index depth) {
    ConfigNode::List result;
    for (const toml::node& item : array) {
      const std::string child = path + "[" + std::to_string(result.size()) + "]";
      result.push_back(convert(item, item.source().begin, child, depth + 1));
    }
    return result;
  }

  void convert_scalar(const toml::node& node, const std::string& path, ConfigNode& result) {
    if (const auto* flag = node.as_boolean())
      result.value = flag->get();
    else if (const auto* integer = node.as_integer())
      result.value = Index(integer->get());
    else if (const auto* number = node.as_floating_point())
      result.value = number->get();
    else if (const auto* text = node.as_string())
      result.value = text->get();
    else
      report(result.origin, path + " is a date or time; put it in quotes to make it text");
  }

  const std::string& file_;
  std::vector<ConfigProblem>& problems_;
};

void place_at(ConfigNode& node, const ConfigOrigin& origin) {
  node.origin = origin;
  if (auto* table = node.table())
    for (auto& [key, child] : *table) place_at(child, origin);
  if (auto* list = std::get_if<ConfigNode::List>(&node.value))
    for (ConfigNode& item : *list) place_at(item, origin);
}

/// The value in "v = TEXT" when that is TOML and nothing but one value.
std::optional<ConfigNode> parse_value(const std::string& text,
                                      std::vector<ConfigProblem>& problems) {
  std::optional<ConfigNode> node = parse_toml("v = " + text, "", problems);
  if (!node || !problems.empty() || node->table()->size() != 1) return std::nullopt;
  return std::move(node->table()->at("v"));
}

}  // namespace

std::optional<ConfigNode> parse_toml(std::string_view text, const std::string& file,
                                     std::vector<ConfigProblem>& problems) {
  const auto report = [&](Index line, Index column, const std::string& message) {
    const ConfigOrigin origin{ConfigOrigin::Place::file, file, line, column};
    problems.push_back({origin, "", message});
    return std::nullopt;
  };
  if (has_endless_key(text))
    return report(0, 0, "a key has more than " + std::to_string(most_key_parts) + " parts");
  try {
    const toml::table root = toml::parse(text);
    return Conversion(file, problems).convert(root, {1, 1}, "", 0);
  } catch (const toml::parse_error& error) {
    const toml::source_position& position = error.source().begin;
    return report(Index(position.line), Index(position.column),
                  "not valid TOML: " + std::string(error.description()));
  }
}

std::optional<ConfigNode> parse_argument(std::string_view key, const std::string& value,
                                         const ConfigOrigin& origin,
                                         std::vector<ConfigProblem>& problems) {
  std::vector<ConfigProblem> faults;
  std::optional<ConfigNode> node = parse_value(value, faults);
  const bool must_be_toml = value.find_first_of("[{\"'") == 0;
  if (!node && !must_be_toml) {
    faults.clear();
    node = parse_value(toml_text(value), faults);  // fails on bytes that are not UTF-8
  }
  if (!node) {
    const std::string reason = faults.empty() ? "not valid TOML" : faults.front().message;
    problems.push_back({origin, std::string(key), std::string(key) + ": " + reason});
    return std::nullopt;
  }
  place_at(*node, origin);
  node->spelling = value;
  return node;
}

}  // namespace weft::experiments
