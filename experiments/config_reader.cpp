#include "experiments/config_reader.h"

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
      reading_.report(wrong_type(*node, section, "a section, [" + section + "]"));
    if (end == std::string::npos) return;
  }
}

void ConfigReader::problem(const std::string& path, const std::string& message,
                           const std::string& suggestion) {
  if (reading_.has_problem_with(path)) return;
  const ConfigNode* node = tree_.find(path);
  reading_.report({node ? node->origin : ConfigOrigin{}, path, path + ": " + message, suggestion});
}

void ConfigReader::finish() {
  for (const ConfigProblem& problem : reading_.keys.unknown_in(tree_.root()))
    reading_.report(problem);
  raise_if_any(reading_.problems);
}

}  // namespace weft::experiments
