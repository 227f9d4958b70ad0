#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "tests/places.h"

namespace weft::architecture {
namespace fs = std::filesystem;
namespace {

const fs::path root = source_dir();

File read(const fs::path& path) {
  File file{path.lexically_relative(root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

bool ends_in_one_of(const std::string& name, const std::vector<std::string>& endings) {
  return std::ranges::any_of(endings, [&](const auto& e) { return name.ends_with(e); });
}

// Each pattern is translated once; tests ask for the same one of every line.
const std::regex& compiled(const std::string& pattern) {
  static std::map<std::string, std::regex> known;
  return known.try_emplace(pattern, pattern).first->second;
}

}  // namespace

std::string File::text() const {
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  return all;
}

std::vector<File> files_under(const std::vector<std::string>& folders,
                              const std::vector<std::string>& endings) {
  std::vector<File> found;
  for (const std::string& folder : folders) {
    const auto first = std::ptrdiff_t(found.size());
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && ends_in_one_of(entry.path().filename().string(), endings))
        found.push_back(read(entry.path()));
    std::ranges::sort(found.begin() + first, found.end(), {}, &File::path);
  }
  return found;
}

std::vector<File> sources() {
  std::vector<std::string> folders = modules;
  folders.push_back("tests");
  return files_under(folders, {".h", ".cpp"});
}

std::vector<File> documents() {
  std::vector<std::string> folders = modules;
  folders.insert(folders.end(), {"tests", "configs"});
  std::vector<File> found = files_under(folders, {".md"});
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") found.push_back(read(entry.path()));
  return found;
}

std::string without_comment(const std::string& line) { return line.substr(0, line.find("//")); }

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex& regex = compiled(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), regex), end; m != end; ++m)
    found.push_back((*m)[1].str());
  return found;
}

bool has_match(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, compiled(pattern));
}

}  // namespace weft::architecture
