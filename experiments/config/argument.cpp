#include "experiments/config/argument.h"

#include <algorithm>
#include <filesystem>

#include "experiments/config/text.h"
#include "experiments/config/toml.h"

namespace weft::experiments {
namespace {

constexpr std::size_t most_parts = 32;

class Argument {
 public:
  Argument(ConfigNode& root, Index number, std::vector<ConfigProblem>& problems)
      : root_(root),
        origin_{ConfigOrigin::Place::command_line, "", 0, number},
        problems_(problems) {}

  void apply(const std::string& text) {
    const std::size_t equals = text.find('=');
    std::error_code ignored;
    if (equals == std::string::npos && std::filesystem::exists(text, ignored))
      return report("", quote(text) +
                            " is a file or directory, where settings are expected: this verb takes "
                            "one at a time, so name a single one");
    if (equals == std::string::npos)
      return report("", quote(text) + " is no setting; write section.key=value");
    const std::string path = text.substr(0, equals);
    const std::vector<std::string> parts = parts_of(path);
    if (parts.size() > most_parts || !std::ranges::all_of(parts, is_plain_key))
      return report("", quote(path) + " is no key; write section.key=value");
    if (path == "include") return report(path, "include works only in a config file");
    if (auto value = parse_argument(path, text.substr(equals + 1), origin_, problems_))
      set_value(root_, path, std::move(*value), origin_, problems_);
  }

 private:
  void report(const std::string& key, const std::string& message) {
    problems_.push_back({origin_, key, message});
  }

  ConfigNode& root_;
  ConfigOrigin origin_;
  std::vector<ConfigProblem>& problems_;
};

}  // namespace

void set_value(ConfigNode& root, const std::string& path, ConfigNode value,
               const ConfigOrigin& origin, std::vector<ConfigProblem>& problems) {
  ConfigNode* node = &root;
  std::string walked;
  for (const std::string& part : parts_of(path)) {
    if (!node->table()) {
      problems.push_back({origin, path,
                          path + " cannot be set: " + walked + " is " + quote(*node) + " (" +
                              node->origin.text() + "), not a table"});
      return;
    }
    walked = join_path(walked, part);
    const auto [place, is_new] = node->table()->try_emplace(part);
    if (is_new) place->second.origin = origin;
    node = &place->second;
  }
  *node = std::move(value);
}

void apply_arguments(ConfigNode& root, const std::vector<std::string>& arguments,
                     std::vector<ConfigProblem>& problems) {
  Index number = 0;
  for (const std::string& text : arguments) Argument(root, ++number, problems).apply(text);
}

}  // namespace weft::experiments
