#include "experiments/config/tree.h"

#include <charconv>

#include "experiments/config/argument.h"
#include "experiments/config/file.h"
#include "experiments/config/problem.h"
#include "experiments/config/toml.h"

namespace weft::experiments {
namespace {

/// One step down: "heads" in a table, "groups[1]" in a list of a table.
const ConfigNode* child_of(const ConfigNode& node, std::string_view part) {
  const std::size_t bracket = part.find('[');
  const ConfigNode::Table* table = node.table();
  if (!table) return nullptr;
  const auto child = table->find(part.substr(0, bracket));
  if (child == table->end()) return nullptr;
  if (bracket == std::string_view::npos) return &child->second;
  std::size_t index = 0;
  std::from_chars(part.data() + bracket + 1, part.data() + part.size(), index);
  const ConfigNode::List* list = child->second.list();
  return list && index < list->size() ? &(*list)[index] : nullptr;
}

}  // namespace

ConfigTree ConfigTree::load(const std::string& path, const std::vector<std::string>& arguments) {
  ConfigTree tree;
  std::vector<ConfigProblem> problems;
  tree.root_ = read_config_file(path, problems);
  apply_arguments(tree.root_, arguments, problems);
  raise_if_any(std::move(problems));
  return tree;
}

ConfigTree ConfigTree::from_text(std::string_view text, const std::string& name,
                                 const std::vector<std::string>& arguments) {
  ConfigTree tree;
  std::vector<ConfigProblem> problems;
  if (auto root = parse_toml(text, name, problems)) tree.root_ = std::move(*root);
  if (const ConfigNode* include = tree.find("include"))
    problems.push_back({include->origin, "include", "include works only in a config file"});
  apply_arguments(tree.root_, arguments, problems);
  raise_if_any(std::move(problems));
  return tree;
}

ConfigTree ConfigTree::with(const std::string& path, ConfigNode value) const {
  ConfigTree tree = *this;
  std::vector<ConfigProblem> problems;
  const ConfigOrigin origin = value.origin;
  set_value(tree.root_, path, std::move(value), origin, problems);
  raise_if_any(std::move(problems));
  return tree;
}

ConfigTree ConfigTree::without(const std::string& path) const {
  ConfigTree tree = *this;
  ConfigNode* node = &tree.root_;
  for (const std::string& part : parts_of(section_of(path))) {
    const auto found = node->table() ? node->table()->find(part) : ConfigNode::Table::iterator();
    if (!node->table() || found == node->table()->end()) return tree;
    node = &found->second;
  }
  if (node->table()) node->table()->erase(std::string(name_of(path)));
  return tree;
}

const ConfigNode* ConfigTree::find(std::string_view path) const {
  const ConfigNode* node = &root_;
  while (node && !path.empty()) {
    const std::size_t dot = path.find('.');
    node = child_of(*node, path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return node;
}

std::vector<std::string> ConfigTree::tables_under(std::string_view section) const {
  std::vector<std::string> names;
  const ConfigNode* node = find(section);
  if (node && node->table())
    for (const auto& [name, child] : *node->table())
      if (child.table()) names.push_back(name);
  return names;
}

}  // namespace weft::experiments
