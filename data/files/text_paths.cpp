#include "data/files/text_paths.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/error.h"
#include "data/files/byte_stream.h"
#include "data/files/debian_package.h"
#include "data/files/refuse_file.h"

namespace weft::data {
namespace {

namespace fs = std::filesystem;

/// Whether a file holds something, and no zeros where it begins.
bool is_text(const std::string& path) {
  std::array<char, 4096> first;
  ByteStream stream(path);
  const std::string_view start(first.data(), stream.read(first));
  return !start.empty() && start.find('\0') == std::string_view::npos;
}

void append_folder(const std::string& folder, TextPaths& paths) {
  std::vector<std::string> found;
  std::error_code fault;
  for (auto at = fs::recursive_directory_iterator(folder, fault);
       !fault && at != fs::recursive_directory_iterator(); at.increment(fault)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    std::error_code ignored;
    if (hidden && at->is_directory(ignored)) at.disable_recursion_pending();
    if (!hidden && at->is_regular_file(ignored)) found.push_back(at->path().string());
  }
  if (fault) refuse_file(folder, "cannot be listed: ", fault.message());
  std::ranges::sort(found);
  const std::size_t before = paths.files.size();
  for (const std::string& file : found)
    if (is_text(file))
      paths.files.push_back(file);
    else
      ++paths.left_out;
  if (paths.files.size() == before)
    refuse_file(folder, "is a folder without a file of text: name another, or put texts there");
}

void append_matches(const std::string& pattern, TextPaths& paths) {
  ::glob_t found{};
  const int fault = ::glob(pattern.c_str(), 0, nullptr, &found);
  const std::vector<std::string> all(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (fault != 0 || all.empty()) {
    const std::string package = debian_package_of(pattern);
    refuse_file(
        pattern, "matches no file: ",
        package.empty() ? "correct the pattern, or fetch the files" : advice_on_missing(pattern));
  }
  for (const std::string& path : all)
    if (fs::is_directory(path))
      append_folder(path, paths);
    else
      paths.files.push_back(path);
}

void append(const std::string& path, TextPaths& paths) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return append_folder(path, paths);
  const bool exists = fs::exists(path, ignored), is_list = path.find(',') != std::string::npos;
  if (!exists && !is_list && path.find_first_of("*?") != std::string::npos)
    return append_matches(path, paths);
  if (exists || !is_list) return paths.files.push_back(path);
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(',', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty()) append(part, paths);
    begin = end + 1;
  }
}

}  // namespace

TextPaths text_paths(const std::string& path) {
  TextPaths paths;
  append(path, paths);
  if (paths.files.empty()) refuse_file(path, "names no file: correct data.path");
  return paths;
}

}  // namespace weft::data
