#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/fields.h"

namespace weft::tests {

struct Settings;
using Setting = std::variant<core::Index, double, bool, std::string, std::vector<core::Index>,
                             std::vector<std::string>, std::vector<Settings>>;
/// A table of settings, written in the test itself.
struct Settings : std::map<std::string, Setting> {
  using map::map;
};

/// Reads given settings and keeps the defaults elsewhere and where a value is illegal. Notes what a
/// listing visited and what it found wrong, by key; a key of an inner table as in "groups.0.heads".
class GivenFields final : public core::Fields {
 public:
  explicit GivenFields(Settings settings = {}) : GivenFields(std::move(settings), "", nullptr) {}

  const std::vector<std::string>& visited() const { return notes_->visited; }
  const std::map<std::string, std::string>& problems() const { return notes_->problems; }

  std::vector<std::unique_ptr<core::Fields>> tables(std::string_view key,
                                                    std::string_view help) override {
    std::vector<Settings> given;
    read(key, given, help);
    std::vector<std::unique_ptr<core::Fields>> visitors;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string path = path_ + std::string(key) + '.' + std::to_string(i) + '.';
      visitors.emplace_back(new GivenFields(given[i], path, notes_));
    }
    return visitors;
  }
  void problem(std::string_view key, const std::string& message) override {
    notes_->problems[path_ + std::string(key)] = message;
  }

 private:
  struct Notes {
    std::vector<std::string> visited;
    std::map<std::string, std::string> problems;
  };

  GivenFields(Settings settings, std::string path, std::shared_ptr<Notes> notes)
      : settings_(std::move(settings)),
        path_(std::move(path)),
        notes_(notes ? std::move(notes) : std::make_shared<Notes>()) {}

  void visit(const core::Field& field) override {
    std::visit([&](auto* value) { read_legal(field, *value); }, field.value);
  }

  void note(std::string_view key, std::string_view help) {
    core::require(!help.empty(), key, " has no help");
    notes_->visited.push_back(path_ + std::string(key));
  }

  template <class T>
  void read(std::string_view key, T& value, std::string_view help) {
    note(key, help);
    const auto found = settings_.find(std::string(key));
    if (found != settings_.end()) value = std::get<T>(found->second);
  }
  void read(std::string_view key, std::vector<double>&, std::string_view help) { note(key, help); }

  /// Reads the value and puts the default back where it is not legal.
  template <class T>
  void read_legal(const core::Field& field, T& value) {
    const T kept = value;
    read(field.key, value, field.help);
    if (is_legal(field, value)) return;
    problem(field.key, field.options.empty() ? "out of range" : "no such option");
    value = kept;
  }

  static bool is_legal(const core::Field& field, double value) {
    return value >= field.range.low && value <= field.range.high;
  }
  static bool is_legal(const core::Field& field, core::Index value) {
    return is_legal(field, double(value));
  }
  static bool is_legal(const core::Field& field, const std::vector<core::Index>& values) {
    return std::ranges::all_of(values, [&](core::Index x) { return is_legal(field, x); });
  }
  static bool is_legal(const core::Field& field, const std::string& value) {
    return field.options.empty() || std::ranges::find(field.options, value) != field.options.end();
  }
  template <class Any>
  static bool is_legal(const core::Field&, const Any&) {
    return true;
  }

  Settings settings_;
  std::string path_;
  std::shared_ptr<Notes> notes_;
};

}  // namespace weft::tests
