#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/architecture/source_tree.h"
#include "tests/places.h"

namespace weft::architecture {
namespace fs = std::filesystem;
namespace {

const fs::path root = source_dir();

// The targets of Markdown links outside code blocks.
std::vector<std::string> links_of(const File& document) {
  std::vector<std::string> links;
  bool code = false;
  for (const std::string& line : document.lines) {
    if (line.starts_with("```")) code = !code;
    if (code) continue;
    for (const auto& link : all_matches(line, "\\]\\(([^)\\s]+)\\)")) links.push_back(link);
  }
  return links;
}

TEST(Documents, every_relative_link_leads_somewhere) {
  for (const File& document : documents())
    for (const std::string& link : links_of(document)) {
      const std::string target = link.substr(0, link.find('#'));
      if (target.empty() || target.find(':') != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(root / fs::path(document.path).parent_path() / target))
          << document.path << ": the link to " << target << " leads nowhere; mend or remove it.";
    }
}

TEST(Documents, every_folder_says_what_it_owns) {
  std::set<std::string> folders = {"tests", "configs"};
  for (const File& file : files_under(modules, {".h", ".cpp"}))
    for (fs::path at = fs::path(file.path).parent_path(); !at.empty(); at = at.parent_path())
      folders.insert(at.generic_string());
  for (const std::string& folder : folders)
    EXPECT_TRUE(fs::exists(root / folder / "README.md"))
        << folder << "/README.md is missing: ten lines on what the folder owns, what it may "
        << "include and where to start reading.";
}

TEST(Documents, design_notes_are_one_page_of_four_parts) {
  for (const File& note : files_under(modules, {".md"})) {
    if (note.path.find("/notes/") == std::string::npos) continue;
    EXPECT_LE(note.lines.size(), 60u) << note.path << ": a design note is one page.";
    for (const std::string part : {"## Context", "## Decision", "## Consequences", "## Rejected"})
      EXPECT_NE(std::ranges::find(note.lines, part), note.lines.end())
          << note.path << ": the part \"" << part << "\" is missing.";
  }
}

}  // namespace
}  // namespace weft::architecture
