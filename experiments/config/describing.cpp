#include "experiments/config/describing.h"

#include <algorithm>
#include <cmath>

#include "experiments/config/text.h"
#include "experiments/console/columns.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

std::string with_range(const std::string& type, core::Range range) {
  const bool has_low = std::isfinite(range.low);
  const bool has_high = std::isfinite(range.high);
  if (has_low && has_high)
    return type + " " + format_exact(range.low) + " to " + format_exact(range.high);
  if (has_low) return type + " >= " + format_exact(range.low);
  if (has_high) return type + " <= " + format_exact(range.high);
  return type;
}

/// The values that a setting accepts, by the type of its value.
struct TypeOf {
  const core::Field& field;

  std::string operator()(const Index*) const { return with_range("integer", field.range); }
  std::string operator()(const double*) const { return with_range("number", field.range); }
  std::string operator()(const bool*) const { return "true | false"; }
  std::string operator()(const std::string*) const {
    return field.options.empty() ? "text" : options();
  }
  std::string operator()(const std::vector<Index>*) const {
    return with_range("list of integer", field.range);
  }
  std::string operator()(const std::vector<double>*) const {
    return with_range("list of number", field.range);
  }
  std::string operator()(const std::vector<std::string>*) const {
    return field.options.empty() ? "text or list of text" : options() + ", or a list of these";
  }
  std::string options() const {
    std::string all;
    for (const std::string_view option : field.options)
      all += (all.empty() ? "" : " | ") + std::string(option);
    return all;
  }
};

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

}  // namespace

void DescribingFields::visit(const core::Field& field) {
  const auto fallback = [&](const auto* value) { return setting_text(field, *value); };
  descriptions_->push_back(
      {prefix_ + std::string(field.key), std::visit(TypeOf{field}, field.value),
       std::visit(fallback, field.value), std::string(field.help), conditions_});
}

void DescribingFields::under(const core::FieldCondition& condition, bool,
                             const std::function<void()>& body) {
  conditions_.push_back(condition);
  body();
  conditions_.pop_back();
}

std::vector<std::unique_ptr<core::Fields>> DescribingFields::tables(std::string_view key,
                                                                    std::string_view help) {
  descriptions_->push_back(
      {prefix_ + std::string(key), "list of tables", "", std::string(help), conditions_});
  auto table = std::make_unique<DescribingFields>();
  table->prefix_ = prefix_ + std::string(key) + "[].";
  table->conditions_ = conditions_;
  table->descriptions_ = descriptions_;
  std::vector<std::unique_ptr<core::Fields>> visitors;
  visitors.push_back(std::move(table));
  return visitors;
}

std::string condition_text(const core::FieldCondition& condition) {
  if (condition.key.empty()) return condition.words;
  std::vector<std::string> values;
  for (const std::string& value : condition.values)
    values.push_back(value == "true" || value == "false" ? value : toml_text(value));
  return condition.key + " = " + joined(values, " or ");
}

std::string condition_text(const std::vector<core::FieldCondition>& conditions) {
  std::vector<std::string> texts;
  for (const core::FieldCondition& condition : conditions)
    texts.push_back(condition_text(condition));
  return joined(texts, " and ");
}

std::string print_descriptions(const std::vector<FieldDescription>& descriptions,
                               std::string_view section) {
  std::vector<std::string> conditions = {""};  // what always exists comes first
  for (const FieldDescription& one : descriptions)
    if (std::ranges::find(conditions, condition_text(one.conditions)) == conditions.end())
      conditions.push_back(condition_text(one.conditions));
  std::string text;
  for (const std::string& condition : conditions) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [key, type, fallback, help, own] : descriptions)
      if (condition_text(own) == condition)
        rows.push_back({join_path(section, key), type, fallback, help});
    if (!condition.empty()) text += "with " + condition + "\n";
    text += format_columns(rows, 40);
  }
  return text;
}

}  // namespace weft::experiments
