#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
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

/// A visitor of settings. Every configurable component lists its settings once, in a member
/// `void fields(core::Fields&)`; that one listing serves reading a config file, printing the
/// resolved values, --help, the key reference and the run's hash, each a kind of Fields.
/// A visitor that reads replaces `value`; otherwise `value` is the default.
class Fields {
 public:
  virtual ~Fields() = default;

  virtual void integer(std::string_view key, Index& value, std::string_view help,
                       Range range = {}) = 0;
  virtual void number(std::string_view key, double& value, std::string_view help,
                      Range range = {}) = 0;
  virtual void flag(std::string_view key, bool& value, std::string_view help) = 0;
  /// Free text; a number written in the config arrives as its digits.
  virtual void text(std::string_view key, std::string& value, std::string_view help) = 0;
  virtual void choice(std::string_view key, std::string& value, std::string_view help,
                      const std::vector<std::string_view>& options) = 0;
  virtual void integers(std::string_view key, std::vector<Index>& value, std::string_view help,
                        Range range = {}) = 0;
  virtual void numbers(std::string_view key, std::vector<double>& value, std::string_view help,
                       Range range = {}) = 0;
  /// A list of texts; a single text arrives as a list of one.
  virtual void texts(std::string_view key, std::vector<std::string>& value,
                     std::string_view help) = 0;
  /// An array of tables: one visitor for each table that the config holds under `key`.
  virtual std::vector<std::unique_ptr<Fields>> tables(std::string_view key,
                                                      std::string_view help) = 0;

  /// Reports that the value of `key` is legal by itself but not beside the others.
  virtual void problem(std::string_view key, const std::string& message) = 0;
};

}  // namespace weft::core
