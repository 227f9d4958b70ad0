#include "experiments/config/reader.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace weft::experiments {

core::Fields& ConfigReader::section(const std::string& path) {
  std::unique_ptr<ReadingFields>& fields = sections_[path];
  if (!fields) {
    require_tables_along(path);
    fields = std::make_unique<ReadingFields>(reading_, path, tree_.find(path));
  }
  return *fields;
}

void ConfigReader::require_tables_along(const std::string& path) {
  for (std::size_t end = path.find('.'); !path.empty(); end = path.find('.', end + 1)) {
    const std::string section = path.substr(0, end);
    const ConfigNode* node = tree_.find(section);
    if (node && !node->table())
      reading_.refuse(wrong_type(*node, section, "a section, [" + section + "]"));
    if (end == std::string::npos) return;
  }
}

void ConfigReader::problem(const std::string& path, const std::string& message,
                           const std::string& suggestion) {
  const ConfigNode* node = tree_.find(path);
  const ConfigOrigin origin = node ? node->origin : ConfigOrigin{};
  reading_.complain({origin, path, path + ": " + message, suggestion});
}

void ConfigReader::finish() {
  std::vector<ConfigProblem> problems = reading_.problems;
  // What a default is blamed for may follow from a value that could not be read.
  if (!reading_.refused.empty())
    std::erase_if(problems, [](const ConfigProblem& problem) {
      return problem.origin.place == ConfigOrigin::Place::by_default;
    });
  std::set<std::string> wrong = reading_.refused;
  for (const ConfigProblem& problem : reading_.problems) wrong.insert(problem.key);
  std::ranges::move(reading_.keys.unknown_in(tree_.root(), wrong, reading_.takes_old_names),
                    std::back_inserter(problems));
  raise_if_any(std::move(problems));
}

}  // namespace weft::experiments
