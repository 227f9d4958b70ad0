#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/architecture/source_tree.h"
#include "tests/places.h"

namespace weft::architecture::documents_test {
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

// Empty where there is no such file.
std::string text_of(const std::string& path) {
  std::ifstream in(root / path);
  return {std::istreambuf_iterator<char>(in), {}};
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

// The folders of the modules that hold sources, and all above them.
std::set<std::string> source_folders() {
  std::set<std::string> folders;
  for (const File& file : files_under(modules, {".h", ".cpp"}))
    for (fs::path at = fs::path(file.path).parent_path(); !at.empty(); at = at.parent_path())
      folders.insert(at.generic_string());
  return folders;
}

TEST(Documents, every_folder_says_what_it_owns) {
  for (const std::string folder : {"tests", "configs"})
    EXPECT_TRUE(fs::exists(root / folder / "README.md")) << folder << "/README.md is missing.";
  for (const std::string& folder : source_folders()) {
    const std::string readme = text_of(folder + "/README.md");
    EXPECT_TRUE(readme.starts_with("# " + folder + "\n"))
        << folder << "/README.md is missing or does not begin with \"# " << folder << "\": it has "
        << "ten lines on what the folder owns, what it may include and where to start reading.";
    for (const std::string part : {"**Owns:**", "**May include:**", "**Start with**"})
      EXPECT_NE(readme.find(part), std::string::npos)
          << folder << "/README.md: the part " << part << " is missing.";
  }
}

TEST(Documents, every_folder_and_note_is_in_the_README_above_it) {
  const auto expect_named = [](const std::string& readme, const std::string& name) {
    const std::string text = text_of(readme);
    EXPECT_TRUE(text.find(name + "/") != std::string::npos ||
                text.find("(" + name + ")") != std::string::npos)
        << readme << " does not name " << name << ": add it to its list or table.";
  };
  std::set<std::string> folders = source_folders();
  for (const std::string top : {"configs", "tests"})
    for (const auto& entry : fs::directory_iterator(root / top)) {
      const std::string name = entry.path().filename().string();
      const bool mirrors = std::ranges::find(modules, name) != modules.end();
      if (entry.is_directory() && !(top == "tests" && mirrors)) folders.insert(top + "/" + name);
    }
  for (const fs::path folder : folders) {
    const fs::path above = folder.parent_path();
    expect_named((above / "README.md").generic_string(), folder.filename().string());
  }
  for (const File& note : files_under(modules, {".md"})) {
    const fs::path path = note.path;
    if (path.parent_path().filename() != "notes") continue;
    const std::string readme = (path.parent_path().parent_path() / "README.md").generic_string();
    EXPECT_NE(text_of(readme).find("(notes/" + path.filename().string() + ")"), std::string::npos)
        << readme << " has no link to the design note " << note.path << ".";
  }
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
}  // namespace weft::architecture::documents_test
