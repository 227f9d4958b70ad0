#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::architecture {

/// The modules from the bottom up.
inline const std::vector<std::string> modules = {"core",  "autograd", "layers",
                                                 "optim", "data",     "experiments"};

/// The modules that make the library: they never print, exit or abort.
inline const std::vector<std::string> library = {"core", "autograd", "layers", "optim", "data"};

struct File {
  std::string path;  // from the root of the repository, such as core/arrays/shape.h
  std::vector<std::string> lines;

  std::string folder() const { return path.substr(0, path.find('/')); }
  bool is_header() const { return path.ends_with(".h"); }
  /// Where line `i`, counted from 0, stands: "core/arrays/shape.h:12".
  std::string at(std::size_t i) const { return path + ":" + std::to_string(i + 1); }
  std::string text() const;
};

/// The files under these folders of the repository whose name ends in one of `endings`; folder by
/// folder, sorted by path.
std::vector<File> files_under(const std::vector<std::string>& folders,
                              const std::vector<std::string>& endings);

/// Every C++ file of the modules and the tests.
std::vector<File> sources();

/// The repository's own documents: Markdown files at the root and under every folder.
std::vector<File> documents();

/// The line without its // comment.
std::string without_comment(const std::string& line);

/// What the first group of `pattern` matched, wherever it occurs in `text`.
std::vector<std::string> all_matches(const std::string& text, const std::string& pattern);

/// Whether `pattern` matches somewhere in `text`. Only source_tree.cpp includes <regex>, which
/// takes seconds to compile.
bool has_match(const std::string& text, const std::string& pattern);

}  // namespace weft::architecture
