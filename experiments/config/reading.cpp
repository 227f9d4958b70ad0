#include "experiments/config/reading.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/config/text.h"
#include "experiments/console/nearest_word.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

constexpr std::size_t most_tables = 1000;  // of a list

constexpr double most_counted = 2147483647;  // 2^31 - 1

/// The number in a text such as "4k", 4096.
std::optional<Index> kilo_in(const ConfigNode& node) {
  const std::string* text = std::get_if<std::string>(&node.value);
  if (!text || without_kilo(*text) == *text) return std::nullopt;
  return std::stoll(without_kilo(*text));
}

std::optional<double> as_number(const ConfigNode& node) {
  if (const auto kilo = kilo_in(node)) return double(*kilo);
  if (const Index* integer = std::get_if<Index>(&node.value)) return double(*integer);
  const double* number = std::get_if<double>(&node.value);
  return number && !std::isnan(*number) ? std::optional(*number) : std::nullopt;
}

std::optional<Index> as_integer(const ConfigNode& node) {
  if (const auto kilo = kilo_in(node)) return kilo;
  if (const Index* integer = std::get_if<Index>(&node.value)) return *integer;
  const double* number = std::get_if<double>(&node.value);
  constexpr double largest_exact = 9007199254740992;  // 2^53
  if (number && std::trunc(*number) == *number && std::abs(*number) <= largest_exact)
    return Index(*number);
  return std::nullopt;
}

std::optional<bool> as_flag(const ConfigNode& node) {
  const bool* flag = std::get_if<bool>(&node.value);
  return flag ? std::optional(*flag) : std::nullopt;
}

std::optional<std::string> as_text(const ConfigNode& node) {
  if (const std::string* text = std::get_if<std::string>(&node.value)) return *text;
  if (!as_number(node)) return std::nullopt;
  if (!node.spelling.empty()) return node.spelling;
  if (const Index* integer = std::get_if<Index>(&node.value)) return toml_text(*integer);
  return format_exact(std::get<double>(node.value));
}

/// "is below 1", or nothing when the number is in range.
std::string range_fault(double value, core::Range range) {
  if (value >= range.low && value <= range.high) return "";
  const bool two_sided =
      std::isfinite(range.low) && std::isfinite(range.high) && range.high != most_counted;
  if (two_sided)
    return "is not between " + format_exact(range.low) + " and " + format_exact(range.high);
  return value < range.low ? "is below " + format_exact(range.low)
                           : "is above " + format_exact(range.high);
}

std::string range_fault(const std::string&, core::Range) { return ""; }

/// Reads one value of a type; reports what is not of that type or fails a check of its range.
template <class Value>
struct ValueReader {
  ConfigReading& reading;
  const char* expected;
  std::optional<Value> (*convert)(const ConfigNode&);
  core::Range range{};

  std::optional<Value> operator()(const ConfigNode& node, const std::string& path) const {
    const std::optional<Value> value = convert(node);
    if (!value) {
      reading.refuse(wrong_type(node, path, expected));
      return std::nullopt;
    }
    const std::string fault = range_fault(*value, range);
    if (fault.empty()) return value;
    reading.refuse({node.origin, path, path + " = " + quote(node) + " " + fault});
    return std::nullopt;
  }
};

}  // namespace

void ConfigReading::refuse(const ConfigProblem& problem) {
  if (refused.insert(problem.key).second) problems.push_back(problem);
}

void ConfigReading::complain(const ConfigProblem& problem) {
  const auto is_same = [&](const ConfigProblem& other) {
    return other.key == problem.key && other.message == problem.message;
  };
  if (!refused.contains(problem.key) && std::ranges::none_of(problems, is_same))
    problems.push_back(problem);
}

ReadingFields::ReadingFields(ConfigReading& reading, std::string path, const ConfigNode* node)
    : reading_(reading), path_(std::move(path)), node_(node) {
  reading_.keys.add_section(path_);
  reading_.resolved.add_section(path_);
}

const ConfigNode* ReadingFields::find(std::string_view key) const {
  const ConfigNode::Table* table = node_ ? node_->table() : nullptr;
  if (!table) return nullptr;
  auto found = table->find(key);
  const auto old = old_names_.find(key);
  if (found == table->end() && old != old_names_.end() && reading_.takes_old_names)
    found = table->find(old->second);
  return found == table->end() ? nullptr : &found->second;
}

void ReadingFields::renamed(std::string_view old_key, std::string_view key) {
  if (is_muted()) return;
  old_names_.insert_or_assign(std::string(key), std::string(old_key));
  const std::string old_path = join_path(path_, old_key);
  if (reading_.takes_old_names)
    reading_.keys.add_key(old_path);
  else
    reading_.keys.add_renamed(old_path, join_path(path_, key));
}

void ReadingFields::under(const core::FieldCondition& condition, bool holds,
                          const std::function<void()>& body) {
  if (holds) {
    ++met_;
  } else {
    unmet_.push_back(condition);
    if (!condition.key.empty()) unmet_.back().key = join_path(path_, condition.key);
  }
  body();
  holds ? void(--met_) : unmet_.pop_back();
}

template <class Value, class Read>
void ReadingFields::take(const core::Field& field, Value& value, const Read& read) {
  const std::string_view key = field.key;
  const std::string path = join_path(path_, key);
  const ConfigNode* node = find(key);
  const std::string fallback = setting_text(field, value);
  reading_.keys.add_key(path);
  if (node) {
    if (auto taken = read(*node, path))
      value = std::move(*taken);
    else
      reading_.refused.insert(path);  // when only an item of a list is wrong
  }
  const auto old = old_names_.find(key);
  const auto added = added_.find(key);
  const std::string text = setting_text(field, value);
  const bool is_unused =
      added != added_.end() && text == (added->second.empty() ? fallback : added->second);
  reading_.resolved.record(
      path_, key, text, node ? node->origin : ConfigOrigin{},
      {.old_key = old == old_names_.end() ? "" : old->second, .left_out = is_unused});
}

template <class Value, class Read>
void ReadingFields::take_list(const core::Field& field, std::vector<Value>& values,
                              const Read& read) {
  take(field, values, [&](const ConfigNode& node, const std::string& path) {
    std::optional<std::vector<Value>> all(std::in_place);
    const auto add = [&](const ConfigNode& item, const std::string& item_path) {
      const std::optional<Value> value = read(item, item_path);
      if (!value)
        all.reset();
      else if (all)
        all->push_back(*value);
    };
    if (!node.list()) add(node, path);
    for (std::size_t i = 0; node.list() && i < node.list()->size(); ++i)
      add((*node.list())[i], path + "[" + std::to_string(i) + "]");
    return all;
  });
}

std::optional<std::string> ReadingFields::read_option(const core::Field& field,
                                                      const ConfigNode& node,
                                                      const std::string& path) {
  std::optional<std::string> chosen = as_text(node);
  const std::vector<std::string> legal(field.options.begin(), field.options.end());
  if (chosen && std::ranges::find(legal, *chosen) != legal.end()) return chosen;
  std::string list;
  for (const std::string& option : legal) list += (list.empty() ? "" : ", ") + option;
  ConfigProblem problem = wrong_type(node, path, "one of " + list);
  if (chosen) problem.suggestion = nearest(*chosen, legal);
  reading_.refuse(problem);
  return std::nullopt;
}

void ReadingFields::visit(const core::Field& field) {
  if (is_muted()) {
    reading_.keys.add_conditional(join_path(path_, field.key), unmet_, met_);
    return;
  }
  // Counts multiply: what states no bound of its own stays far from where products overflow.
  core::Range counted = field.range;
  if (std::isinf(counted.high)) counted.high = most_counted;
  const ValueReader<Index> integer{reading_, "a whole number", as_integer, counted};
  const ValueReader<double> number{reading_, "a number", as_number, field.range};
  const ValueReader<bool> flag{reading_, "true or false", as_flag};
  const ValueReader<std::string> text{reading_, "text", as_text};
  if (const auto value = std::get_if<Index*>(&field.value)) return take(field, **value, integer);
  if (const auto value = std::get_if<double*>(&field.value)) return take(field, **value, number);
  if (const auto value = std::get_if<bool*>(&field.value)) return take(field, **value, flag);
  const auto option = [&](const ConfigNode& node, const std::string& path) {
    return read_option(field, node, path);
  };
  if (const auto value = std::get_if<std::string*>(&field.value))
    return field.options.empty() ? take(field, **value, text) : take(field, **value, option);
  if (const auto value = std::get_if<std::vector<Index>*>(&field.value))
    return take_list(field, **value, integer);
  if (const auto value = std::get_if<std::vector<double>*>(&field.value))
    return take_list(field, **value, number);
  std::vector<std::string>& texts = *std::get<std::vector<std::string>*>(field.value);
  field.options.empty() ? take_list(field, texts, text) : take_list(field, texts, option);
}

std::vector<std::unique_ptr<core::Fields>> ReadingFields::tables(std::string_view key,
                                                                 std::string_view) {
  std::vector<std::unique_ptr<core::Fields>> visitors;
  const std::string path = join_path(path_, key);
  if (is_muted()) {
    reading_.keys.add_conditional(path, unmet_, met_);
    return visitors;
  }
  reading_.keys.add_key(path);
  const ConfigNode* node = find(key);
  if (!node) return visitors;
  if (!node->list()) {
    reading_.refuse(wrong_type(*node, path, "a list of tables"));
    return visitors;
  }
  if (node->list()->size() > most_tables) {
    reading_.refuse({node->origin, path,
                     core::message_of(path, " lists ", node->list()->size(), " tables, more than ",
                                      most_tables)});
    return visitors;
  }
  for (std::size_t i = 0; i < node->list()->size(); ++i) {
    const ConfigNode& item = (*node->list())[i];
    const std::string item_path = path + "[" + std::to_string(i) + "]";
    if (item.table())
      visitors.push_back(std::make_unique<ReadingFields>(reading_, item_path, &item));
    else
      reading_.refuse(wrong_type(item, item_path, "a table"));
  }
  return visitors;
}

void ReadingFields::problem(std::string_view key, const std::string& message) {
  if (is_muted()) return;
  const std::string path = join_path(path_, key);
  const ConfigNode* node = find(key);
  reading_.complain({node ? node->origin : ConfigOrigin{}, path, path + ": " + message});
}

}  // namespace weft::experiments
