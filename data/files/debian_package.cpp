#include "data/files/debian_package.h"

#include <algorithm>
#include <filesystem>

namespace weft::data {

std::string debian_package_of(const std::string& path) {
  const auto first_behind = [&](const std::string& folder, const char* ends) -> std::string {
    if (!path.starts_with(folder)) return "";
    const std::string rest = path.substr(folder.size());
    return rest.substr(0, std::min(rest.find_first_of(ends), rest.size()));
  };
  if (const auto name = first_behind("/usr/share/datasets/", "/"); !name.empty())
    return "dataset-" + name;
  if (const auto name = first_behind("/usr/share/dictd/", "./"); !name.empty())
    return "dict-" + name;
  return first_behind("/usr/share/doc/", "/");
}

std::string advice_on_missing(const std::string& path) {
  const std::string package = debian_package_of(path);
  if (!package.empty()) return "install it with: sudo apt-get install " + package;
  std::error_code ignored;
  return "correct the path (data.path), or fetch the file (looked for from " +
         std::filesystem::current_path(ignored).string() + ")";
}

}  // namespace weft::data
