#include "tests/layers/given_fields.h"

#include <algorithm>

#include "core/error.h"

namespace weft::tests {
namespace {

bool is_legal(const core::Field& field, double value) {
  return value >= field.range.low && value <= field.range.high;
}
bool is_legal(const core::Field& field, core::Index value) {
  return is_legal(field, double(value));
}
bool is_legal(const core::Field& field, const std::vector<core::Index>& values) {
  return std::ranges::all_of(values, [&](core::Index x) { return is_legal(field, x); });
}
bool is_legal(const core::Field& field, const std::string& value) {
  return field.options.empty() || std::ranges::find(field.options, value) != field.options.end();
}
template <class Any>
bool is_legal(const core::Field&, const Any&) {
  return true;
}

}  // namespace

GivenFields::GivenFields(Settings settings) : GivenFields(std::move(settings), "", nullptr) {}

GivenFields::GivenFields(Settings settings, std::string path, std::shared_ptr<Notes> notes)
    : settings_(std::move(settings)),
      path_(std::move(path)),
      notes_(notes ? std::move(notes) : std::make_shared<Notes>()) {}

std::vector<std::unique_ptr<core::Fields>> GivenFields::tables(std::string_view key,
                                                               std::string_view help) {
  std::vector<Settings> given;
  read(key, given, help);
  std::vector<std::unique_ptr<core::Fields>> visitors;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string path = path_ + std::string(key) + '.' + std::to_string(i) + '.';
    visitors.emplace_back(new GivenFields(given[i], path, notes_));
  }
  return visitors;
}

void GivenFields::problem(std::string_view key, const std::string& message) {
  notes_->problems[path_ + std::string(key)] = message;
}

void GivenFields::visit(const core::Field& field) {
  std::visit([&](auto* value) { read_legal(field, *value); }, field.value);
}

void GivenFields::note(std::string_view key, std::string_view help) {
  core::require(!help.empty(), key, " has no help");
  notes_->visited.push_back(path_ + std::string(key));
}

template <class T>
void GivenFields::read(std::string_view key, T& value, std::string_view help) {
  note(key, help);
  const auto found = settings_.find(std::string(key));
  if (found != settings_.end()) value = std::get<T>(found->second);
}

template <class T>
void GivenFields::read_legal(const core::Field& field, T& value) {
  const T kept = value;
  read(field.key, value, field.help);
  if (is_legal(field, value)) return;
  problem(field.key, field.options.empty() ? "out of range" : "no such option");
  value = kept;
}

}  // namespace weft::tests
