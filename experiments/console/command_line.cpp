#include "experiments/console/command_line.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <charconv>
#include <iostream>
#include <sstream>

#include "core/error.h"
#include "experiments/console/manual_text.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

namespace po = boost::program_options;

template <class Number>
Number parse_number(const std::string& name, const std::string& given, const char* kind) {
  const std::string text = without_kilo(given);
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  core::require(fault == std::errc() && end == text.data() + text.size(), "--", name, " ", given,
                " is not ", kind);
  return value;
}

}  // namespace

CommandLine::CommandLine(std::string usage, std::string summary)
    : usage_(std::move(usage)), summary_(std::move(summary)) {
  flag("help", "show this");
}

CommandLine& CommandLine::flag(const std::string& name, const std::string& help) {
  options_.push_back({name, "", "", help, ""});
  return *this;
}

CommandLine& CommandLine::option(const std::string& name, const std::string& value,
                                 const std::string& help, const std::string& fallback) {
  const std::size_t comma = name.find(',');
  const std::string brief = comma == std::string::npos ? "" : name.substr(comma + 1);
  options_.push_back({name.substr(0, comma), brief, value, help, fallback});
  return *this;
}

CommandLine& CommandLine::list(const std::string& name, const std::string& value,
                               const std::string& help) {
  options_.push_back({name, "", value, help, "", true});
  return *this;
}

CommandLine& CommandLine::words(std::size_t least, std::size_t most, const std::string& what) {
  least_ = least;
  most_ = most;
  what_ = what;
  return *this;
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  if (std::ranges::find(arguments, "--man") != arguments.end()) {
    std::cout << manual();
    return false;
  }
  po::options_description declared;
  for (const Option& o : options_) {
    const std::string names = o.brief.empty() ? o.name : o.name + "," + o.brief;
    if (o.value.empty())
      declared.add_options()(names.c_str(), po::bool_switch());
    else if (o.several)
      declared.add_options()(names.c_str(), po::value<std::vector<std::string>>()->composing());
    else
      declared.add_options()(names.c_str(), po::value<std::string>());
  }
  declared.add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);
  po::variables_map found;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments)
                  .options(declared)
                  .positional(positional)
                  .style(style)
                  .run(),
              found);
  } catch (const po::error& error) {
    throw core::Error(std::string(error.what()) + "; usage: " + usage_);
  }
  for (const Option& o : options_) {
    if (o.several) {
      if (found.contains(o.name)) lists_[o.name] = found[o.name].as<std::vector<std::string>>();
      continue;
    }
    if (o.value.empty() ? found[o.name].as<bool>() : found.contains(o.name))
      values_[o.name] = o.value.empty() ? "" : found[o.name].as<std::string>();
    else if (!o.fallback.empty())
      values_[o.name] = o.fallback;
  }
  if (found.contains("words")) words_ = found["words"].as<std::vector<std::string>>();
  if (has("help")) {
    std::cout << help();
    return false;
  }
  core::require(words_.size() >= least_, what_, " is missing; usage: ", usage_);
  core::require(words_.size() <= most_, "\"", words_.empty() ? "" : words_.back(),
                "\" is one word too many; usage: ", usage_);
  return true;
}

const std::string& CommandLine::text(const std::string& name) const {
  core::require(has(name), "--", name, " is missing; usage: ", usage_);
  return values_.at(name);
}

std::vector<std::string> CommandLine::texts(const std::string& name) const {
  const auto found = lists_.find(name);
  return found == lists_.end() ? std::vector<std::string>() : found->second;
}

core::Index CommandLine::integer(const std::string& name) const {
  const auto value = parse_number<core::Index>(name, text(name), "a whole number");
  core::require(value >= 0, "--", name, " ", value, " is below 0");
  return value;
}

double CommandLine::number(const std::string& name) const {
  return parse_number<double>(name, text(name), "a number");
}

std::vector<double> CommandLine::numbers(const std::string& name) const {
  std::vector<double> values;
  std::istringstream list(text(name));
  for (std::string item; std::getline(list, item, ',');)
    values.push_back(parse_number<double>(name, item, "a number"));
  return values;
}

std::string CommandLine::Option::shown() const {
  const std::string argument = value.empty() ? "" : " " + value;
  return "--" + name + argument + (brief.empty() ? "" : ", -" + brief + argument);
}

std::string CommandLine::manual() const {
  // "weft bench step CONFIG ..." is the page weft-bench-step.
  std::string name;
  std::istringstream words(usage_);
  for (std::string word; words >> word && !word.empty() && std::islower(word[0]) &&
                         word.find('.') == std::string::npos;)
    name += (name.empty() ? "" : "-") + word;
  std::string page = manual_head(name, summary_.substr(0, summary_.find_first_of(".:")));
  page += ".SH SYNOPSIS\n" + roff(usage_) + "\n.SH DESCRIPTION\n" + roff(summary_) + "\n";
  page += ".SH OPTIONS\n";
  for (const Option& o : options_)
    page += ".TP\n" + roff(o.shown()) + "\n" +
            roff(o.help + (o.fallback.empty() ? "" : " (" + o.fallback + ")")) + "\n";
  return page + ".SH SEE ALSO\nweft(1)\n";
}

std::string CommandLine::help() const {
  std::ostringstream out;
  out << usage_ << "\n\n" << summary_ << "\n\n";
  std::size_t widest = 0;
  for (const Option& o : options_) widest = std::max(widest, o.shown().size());
  for (const Option& o : options_) {
    const std::string name = o.shown();
    out << "  " << name << std::string(widest + 2 - name.size(), ' ') << o.help;
    if (!o.fallback.empty()) out << " (" << o.fallback << ")";
    out << '\n';
  }
  return out.str();
}

}  // namespace weft::experiments
