#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/fields.h"

namespace weft::tests {

struct Settings;
using Setting = std::variant<core::Index, double, bool, std::string, std::vector<core::Index>,
                             std::vector<double>, std::vector<std::string>, std::vector<Settings>>;
/// A table of settings, written in the test itself.
struct Settings : std::map<std::string, Setting> {
  using map::map;
};

/// Reads given settings and keeps the defaults elsewhere and where a value is illegal. Notes what a
/// listing visited and what it found wrong, by key; a key of an inner table as in "groups.0.heads".
class GivenFields final : public core::Fields {
 public:
  explicit GivenFields(Settings settings = {});

  const std::vector<std::string>& visited() const { return notes_->visited; }
  const std::map<std::string, std::string>& problems() const { return notes_->problems; }

  std::vector<std::unique_ptr<core::Fields>> tables(std::string_view key,
                                                    std::string_view help) override;
  void problem(std::string_view key, const std::string& message) override;

 private:
  struct Notes {
    std::vector<std::string> visited;
    std::map<std::string, std::string> problems;
  };

  GivenFields(Settings settings, std::string path, std::shared_ptr<Notes> notes);

  void visit(const core::Field& field) override;
  void note(std::string_view key, std::string_view help);
  template <class T>
  void read(std::string_view key, T& value, std::string_view help);
  /// Reads the value and puts the default back where it is not legal.
  template <class T>
  void read_legal(const core::Field& field, T& value);

  Settings settings_;
  std::string path_;
  std::shared_ptr<Notes> notes_;
};

}  // namespace weft::tests
