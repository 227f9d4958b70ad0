#pragma once

#include "core/error.h"
#include "core/fields.h"

namespace weft::core {

/// Keeps every default, for programs that build parts without a config. Defaults that do not fit
/// where they are used are an Error.
class DefaultFields final : public Fields {
 public:
  void integer(std::string_view, Index&, std::string_view, Range) override {}
  void number(std::string_view, double&, std::string_view, Range) override {}
  void flag(std::string_view, bool&, std::string_view) override {}
  void text(std::string_view, std::string&, std::string_view) override {}
  void choice(std::string_view, std::string&, std::string_view,
              const std::vector<std::string_view>&) override {}
  void integers(std::string_view, std::vector<Index>&, std::string_view, Range) override {}
  void numbers(std::string_view, std::vector<double>&, std::string_view, Range) override {}
  void texts(std::string_view, std::vector<std::string>&, std::string_view) override {}
  std::vector<std::unique_ptr<Fields>> tables(std::string_view, std::string_view) override {
    return {};
  }
  void problem(std::string_view key, const std::string& message) override {
    throw Error(message_of(key, " at its default: ", message));
  }
};

}  // namespace weft::core
