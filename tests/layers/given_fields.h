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

  void integer(std::string_view key, core::Index& value, std::string_view help,
               core::Range range) override {
    read_within(key, value, help, range);
  }
  void number(std::string_view key, double& value, std::string_view help,
              core::Range range) override {
    read_within(key, value, help, range);
  }
  void flag(std::string_view key, bool& value, std::string_view help) override {
    read(key, value, help);
  }
  void text(std::string_view key, std::string& value, std::string_view help) override {
    read(key, value, help);
  }
  void choice(std::string_view key, std::string& value, std::string_view help,
              const std::vector<std::string_view>& options) override {
    const std::string kept = value;
    read(key, value, help);
    if (std::ranges::find(options, value) != options.end()) return;
    problem(key, "no such option");
    value = kept;
  }
  void integers(std::string_view key, std::vector<core::Index>& value, std::string_view help,
                core::Range range) override {
    const auto kept = value;
    read(key, value, help);
    for (const core::Index x : value)
      if (double(x) < range.low || double(x) > range.high) {
        problem(key, "out of range");
        value = kept;
        return;
      }
  }
  void numbers(std::string_view key, std::vector<double>&, std::string_view help,
               core::Range) override {
    note(key, help);
  }
  void texts(std::string_view key, std::vector<std::string>& value,
             std::string_view help) override {
    read(key, value, help);
  }
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

  template <class T>
  void read_within(std::string_view key, T& value, std::string_view help, core::Range range) {
    const T kept = value;
    read(key, value, help);
    if (double(value) >= range.low && double(value) <= range.high) return;
    problem(key, "out of range");
    value = kept;
  }

  Settings settings_;
  std::string path_;
  std::shared_ptr<Notes> notes_;
};

}  // namespace weft::tests
