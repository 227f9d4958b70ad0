#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/real.h"

namespace weft::core {

/// The legal values of a number, both ends included.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

inline Range at_least(double low) { return {.low = low}; }
inline Range between(double low, double high) { return {low, high}; }

/// One setting: its key, where its value lives, and what is legal there.
struct Field {
  using Value = std::variant<Index*, double*, bool*, std::string*, std::vector<Index>*,
                             std::vector<double>*, std::vector<std::string>*>;

  std::string_view key;
  Value value;
  std::string_view help;
  Range range = {};  ///< of a number, or of each in a list
  std::vector<std::string_view> options =
      {};  ///< of a choice or of each in a list; empty for free text
};

/// Under which other setting of its section a setting exists.
struct FieldCondition {
  std::string key;                  ///< that setting; empty where `words` say it all
  std::vector<std::string> values;  ///< it has one of these; of a flag "true" or "false"
  std::string words;                ///< a computed fact, such as "a text that is not prepared"
};

/// A visitor of settings. Every configurable component lists its settings once, in a member
/// `void fields(core::Fields&)`; that one listing serves reading a config file, printing the
/// resolved values, --help, the key reference, completion and the run's hash, each a kind of
/// Fields. A visitor that reads replaces `value`; otherwise `value` is the default.
class Fields {
 public:
  virtual ~Fields() = default;

  void integer(std::string_view key, Index& value, std::string_view help, Range range = {}) {
    visit({key, &value, help, range});
  }
  void number(std::string_view key, double& value, std::string_view help, Range range = {}) {
    visit({key, &value, help, range});
  }
  void flag(std::string_view key, bool& value, std::string_view help);
  /// Free text; a number written in the config arrives as its digits.
  void text(std::string_view key, std::string& value, std::string_view help) {
    visit({key, &value, help});
  }
  void choice(std::string_view key, std::string& value, std::string_view help,
              const std::vector<std::string_view>& options);
  /// A choice whose values are those of an enumeration: {{"band", Form::band}, ...}.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void choice(std::string_view key, Enum& value, std::string_view help,
              const std::vector<std::pair<std::string_view, Enum>>& names);
  /// A list of choices, repeated where it is used; a single one arrives as a list of one, and is
  /// written as one.
  void choices(std::string_view key, std::vector<std::string>& value, std::string_view help,
               const std::vector<std::string_view>& options);
  template <class Enum>
  requires std::is_enum_v<Enum>
  void choices(std::string_view key, std::vector<Enum>& value, std::string_view help,
               const std::vector<std::pair<std::string_view, Enum>>& names);
  void integers(std::string_view key, std::vector<Index>& value, std::string_view help,
                Range range = {}) {
    visit({key, &value, help, range});
  }
  void numbers(std::string_view key, std::vector<double>& value, std::string_view help,
               Range range = {}) {
    visit({key, &value, help, range});
  }
  /// A list of texts; a single text arrives as a list of one.
  void texts(std::string_view key, std::vector<std::string>& value, std::string_view help) {
    visit({key, &value, help});
  }

  /// Settings that exist only while the choice or flag `key`, visited before, has one of `values`
  /// (a flag "true" or "false"; a list of choices, when any of it is among them). Visitors that
  /// describe run `body` in any case, and those that read also when the condition fails, to know
  /// its keys: it visits fields and does nothing else.
  void when(std::string_view key, std::initializer_list<std::string_view> values,
            const std::function<void()>& body);
  /// The same under a computed fact, which `words` name as in "is used only with WORDS".
  template <std::same_as<bool> Bool>
  void when(Bool holds, std::string_view words, const std::function<void()>& body) {
    under({"", {}, std::string(words)}, holds, body);
  }

  /// `old_key` was the name of `key`, which is visited next: a config that uses it gets an
  /// error with the new one, one that an earlier weft saved is understood, and the run keeps its
  /// hash.
  virtual void renamed(std::string_view old_key, std::string_view key) {
    static_cast<void>(old_key), static_cast<void>(key);
  }

  /// `key`, which is visited next, was added when runs already had names: with the value `unused`
  /// (in TOML; empty: its default) it stays out of a run's hash, so that old runs keep their names.
  virtual void added(std::string_view key, std::string_view unused = "") {
    static_cast<void>(key), static_cast<void>(unused);
  }

  /// An array of tables: one visitor for each table that the config holds under `key`.
  virtual std::vector<std::unique_ptr<Fields>> tables(std::string_view key,
                                                      std::string_view help) = 0;

  /// Reports that the value of `key` is legal by itself but not together with the others.
  virtual void problem(std::string_view key, const std::string& message) = 0;

 protected:
  virtual void visit(const Field& field) = 0;
  /// Runs `body` if the condition holds; visitors that collect keys do more.
  virtual void under(const FieldCondition&, bool holds, const std::function<void()>& body) {
    if (holds) body();
  }
  /// Whether fields are visited for their keys only, since a condition around them fails.
  virtual bool is_muted() const { return false; }

 private:
  void remember(std::string_view key, std::vector<std::string> values);

  /// Choices and flags visited so far.
  std::map<std::string, std::vector<std::string>, std::less<>> chosen_;
};

/// Keeps every default: for programs that make components without a config.
class DefaultFields final : public Fields {
 public:
  std::vector<std::unique_ptr<Fields>> tables(std::string_view, std::string_view) override {
    return {};
  }
  /// Throws, since defaults that do not fit each other are a mistake of the program.
  void problem(std::string_view key, const std::string& message) override;

 private:
  void visit(const Field&) override {}
};

/// Settings made by a program, completed by what their listing sets, such as the chosen kind's
/// plan.
template <class Settings>
Settings with_defaults(Settings settings = {}) {
  DefaultFields defaults;
  settings.fields(defaults);
  return settings;
}

template <class Enum>
requires std::is_enum_v<Enum>
void Fields::choice(std::string_view key, Enum& value, std::string_view help,
                    const std::vector<std::pair<std::string_view, Enum>>& names) {
  std::string text;
  std::vector<std::string_view> options;
  for (const auto& [name, named] : names) {
    options.push_back(name);
    if (named == value) text = name;
  }
  choice(key, text, help, options);
  for (const auto& [name, named] : names)
    if (text == name) value = named;
}

template <class Enum>
requires std::is_enum_v<Enum>
void Fields::choices(std::string_view key, std::vector<Enum>& value, std::string_view help,
                     const std::vector<std::pair<std::string_view, Enum>>& names) {
  std::vector<std::string> texts;
  for (const Enum each : value)
    for (const auto& [name, named] : names)
      if (named == each) texts.emplace_back(name);
  std::vector<std::string_view> options;
  for (const auto& [name, named] : names) options.push_back(name);
  choices(key, texts, help, options);
  value.clear();
  for (const std::string& text : texts)
    for (const auto& [name, named] : names)
      if (text == name) value.push_back(named);
}

}  // namespace weft::core
