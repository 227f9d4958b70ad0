#include <map>
#include <regex>
#include <set>

#include "tests/architecture/source_tree.h"

namespace weft::architecture {
namespace {

// The picture in README.md as a table: which folders a file of a folder may include.
const std::map<std::string, std::set<std::string>> arrows = {
    {"core", {"core"}},
    {"autograd", {"autograd", "core"}},
    {"layers", {"layers", "autograd", "core"}},
    {"optim", {"optim", "autograd", "core"}},
    {"data", {"data", "core"}},
    {"experiments", {"experiments", "layers", "optim", "data", "autograd", "core"}},
};

// Large libraries that would reach every file through a header.
const std::regex heavy("^#include <(toml\\+\\+/|nlohmann/json\\.hpp|boost/|hdf5|H5).*");

std::set<std::string> may_include(const File& file) {
  if (file.folder() != "tests") return arrows.at(file.folder());
  const std::string below = file.path.substr(6, file.path.find('/', 6) - 6);
  std::set<std::string> allowed{modules.begin(), modules.end()};
  if (arrows.contains(below)) allowed = arrows.at(below);
  allowed.insert("tests");
  return allowed;
}

TEST(Architecture, includes_follow_the_arrows_of_the_picture) {
  for (const File& file : sources()) {
    const auto allowed = may_include(file);
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (const auto& target : all_matches(file.lines[i], "^#include \"([^\"]+)\"")) {
        const auto slash = target.find('/');
        EXPECT_NE(slash, std::string::npos)
            << file.at(i) << ": write the path from the repository's root, as in \""
            << file.path.substr(0, file.path.rfind('/') + 1) << target << "\"";
        EXPECT_TRUE(slash == std::string::npos || allowed.contains(target.substr(0, slash)))
            << file.at(i) << ": a file here must not include " << target
            << ". Move what both need further down (see the picture in README.md), or assemble "
               "the two in experiments.";
      }
  }
}

TEST(Architecture, headers_stay_free_of_heavy_libraries) {
  for (const File& file : sources())
    for (std::size_t i = 0; file.is_header() && i < file.lines.size(); ++i)
      EXPECT_FALSE(std::regex_match(file.lines[i], heavy))
          << file.at(i) << ": include this library in the .cpp file alone, and keep its types out "
          << "of the header (nlohmann/json_fwd.hpp is fine).";
}

TEST(Architecture, every_header_is_guarded_and_every_file_lives_in_its_namespace) {
  for (const File& file : sources()) {
    if (file.is_header()) {
      EXPECT_EQ(file.lines.empty() ? "" : file.lines[0], "#pragma once")
          << file.path << ": a header opens with #pragma once";
    }
    if (file.folder() == "tests" || file.path.ends_with("main.cpp")) continue;
    EXPECT_NE(file.text().find("namespace weft::" + file.folder()), std::string::npos)
        << file.path << ": code in " << file.folder()
        << "/ belongs to namespace weft::" << file.folder();
  }
}

}  // namespace
}  // namespace weft::architecture
