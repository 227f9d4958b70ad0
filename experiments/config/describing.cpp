#include "experiments/config/describing.h"

#include <cmath>

#include "experiments/config/text.h"

namespace weft::experiments {
namespace {

std::string with_range(const std::string& type, core::Range range) {
  const bool has_low = std::isfinite(range.low);
  const bool has_high = std::isfinite(range.high);
  if (has_low && has_high) return type + " " + digits(range.low) + " to " + digits(range.high);
  if (has_low) return type + " >= " + digits(range.low);
  if (has_high) return type + " <= " + digits(range.high);
  return type;
}

}  // namespace

void DescribingFields::add(std::string_view key, std::string type, std::string fallback,
                           std::string_view help) {
  descriptions_->push_back(
      {prefix_ + std::string(key), std::move(type), std::move(fallback), std::string(help)});
}

void DescribingFields::integer(std::string_view key, core::Index& value, std::string_view help,
                               core::Range range) {
  add(key, with_range("integer", range), toml_text(value), help);
}

void DescribingFields::number(std::string_view key, double& value, std::string_view help,
                              core::Range range) {
  add(key, with_range("number", range), toml_text(value), help);
}

void DescribingFields::flag(std::string_view key, bool& value, std::string_view help) {
  add(key, "true | false", toml_text(value), help);
}

void DescribingFields::text(std::string_view key, std::string& value, std::string_view help) {
  add(key, "text", toml_text(value), help);
}

void DescribingFields::choice(std::string_view key, std::string& value, std::string_view help,
                              const std::vector<std::string_view>& options) {
  std::string type;
  for (const std::string_view option : options)
    type += (type.empty() ? "" : " | ") + std::string(option);
  add(key, type, toml_text(value), help);
}

void DescribingFields::integers(std::string_view key, std::vector<core::Index>& value,
                                std::string_view help, core::Range range) {
  add(key, with_range("list of integer", range), toml_text(value), help);
}

void DescribingFields::numbers(std::string_view key, std::vector<double>& value,
                               std::string_view help, core::Range range) {
  add(key, with_range("list of number", range), toml_text(value), help);
}

void DescribingFields::texts(std::string_view key, std::vector<std::string>& value,
                             std::string_view help) {
  add(key, "text or list of text", toml_text(value), help);
}

std::vector<std::unique_ptr<core::Fields>> DescribingFields::tables(std::string_view key,
                                                                    std::string_view help) {
  add(key, "list of tables", "", help);
  auto table = std::make_unique<DescribingFields>();
  table->prefix_ = prefix_ + std::string(key) + "[].";
  table->descriptions_ = descriptions_;
  std::vector<std::unique_ptr<core::Fields>> visitors;
  visitors.push_back(std::move(table));
  return visitors;
}

std::string print_descriptions(const std::vector<FieldDescription>& descriptions,
                               std::string_view section) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, type, fallback, help] : descriptions)
    rows.push_back({join_path(section, key), type, fallback, help});
  return align(rows, 40);
}

}  // namespace weft::experiments
