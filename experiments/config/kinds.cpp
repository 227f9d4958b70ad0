#include "experiments/config/kinds.h"

#include <algorithm>

#include "experiments/config/node.h"
#include "experiments/config/text.h"

namespace weft::experiments {

bool ConfigKinds::Kind::has(std::string_view key) const {
  const auto& settings = fields->descriptions();
  return std::ranges::find(settings, key, &FieldDescription::key) != settings.end();
}

core::Fields& ConfigKinds::add(const std::string& section, const std::string& selector,
                               const std::string& kind) {
  const std::string path = join_path(section, selector);
  auto place = std::ranges::find(selectors_, path, &Selector::path);
  if (place == selectors_.end()) place = selectors_.insert(place, {section, path, {}});
  const bool flag = kind == "true" || kind == "false";
  place->kinds.push_back({flag ? kind : toml_text(kind), std::make_unique<DescribingFields>()});
  return *place->kinds.back().fields;
}

ConfigKinds::Verdict ConfigKinds::judge(const std::string& path, const Selected& selected) const {
  Verdict verdict;
  for (const Selector& selector : selectors_) {
    if (selector.section != section_of(path)) continue;
    std::vector<std::string> users;
    for (const Kind& kind : selector.kinds)
      if (kind.has(name_of(path))) users.push_back(kind.toml);
    if (users.empty()) continue;
    const std::optional<std::string> chosen = selected(selector.path);
    if (!chosen) return {.is = Verdict::open, .condition = ""};
    if (std::ranges::find(users, *chosen) != users.end()) {
      verdict.is = std::max(verdict.is, Verdict::unused);
      continue;
    }
    verdict.is = Verdict::conditional;
    verdict.condition += (verdict.condition.empty() ? "" : " or ") + selector.path + " = ";
    for (const std::string& user : users)
      verdict.condition += (&user == &users.front() ? "" : " or ") + user;
  }
  return verdict;
}

std::vector<std::string> ConfigKinds::paths() const {
  std::vector<std::string> paths;
  for (const Selector& selector : selectors_)
    for (const Kind& kind : selector.kinds)
      for (const FieldDescription& setting : kind.fields->descriptions())
        paths.push_back(join_path(selector.section, setting.key));
  return paths;
}

}  // namespace weft::experiments
