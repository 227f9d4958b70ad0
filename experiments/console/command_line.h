#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

/// The options of one verb: declared, parsed by Boost.Program_options, and printed by --help.
class CommandLine {
 public:
  /// usage: "weft train CONFIG [section.key=value ...]"
  CommandLine(std::string usage, std::string summary);

  CommandLine& flag(const std::string& name, const std::string& help);
  /// An option with a value; `value` names it in the help. A name "jobs,j" may be typed as -j too.
  CommandLine& option(const std::string& name, const std::string& value, const std::string& help,
                      const std::string& fallback = "");
  /// An option that may be given several times.
  CommandLine& list(const std::string& name, const std::string& value, const std::string& help);
  /// How many words must be given in addition to the options, at least and at most.
  CommandLine& words(std::size_t least, std::size_t most, const std::string& what);

  /// False when --help, or --man for a page of the manual, was asked for and has been printed.
  bool parse(const std::vector<std::string>& arguments);

  bool has(const std::string& name) const { return values_.contains(name); }
  const std::string& text(const std::string& name) const;
  /// Every value of a list; none when it was not given.
  std::vector<std::string> texts(const std::string& name) const;
  core::Index integer(const std::string& name) const;
  double number(const std::string& name) const;
  /// Several numbers in one value, with commas between them.
  std::vector<double> numbers(const std::string& name) const;
  const std::vector<std::string>& words() const { return words_; }
  /// The words after the first: section.key=value.
  std::vector<std::string> overrides() const { return {words_.begin() + 1, words_.end()}; }

  std::string help() const;
  /// The same as a page of the manual, in roff.
  std::string manual() const;

 private:
  struct Option {
    std::string name, brief, value, help, fallback;
    bool several = false;

    /// "--jobs N, -j N"
    std::string shown() const;
  };
  std::string usage_, summary_;
  std::vector<Option> options_;
  std::size_t least_ = 0, most_ = 0;
  std::string what_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<std::string>> lists_;
  std::vector<std::string> words_;
};

}  // namespace weft::experiments
