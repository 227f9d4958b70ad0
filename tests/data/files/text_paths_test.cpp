#include "data/files/text_paths.h"

#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::text_paths_test {
namespace {

class Folder {
 public:
  using Files = std::vector<std::pair<std::string, std::string>>;

  explicit Folder(const Files& files) : root_("x") {
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
      std::ofstream(path(name), std::ios::binary) << text;
    }
  }
  std::string path(const std::string& name) const { return root_.folder() + "/own/" + name; }
  std::vector<std::string> names(const std::string& given) const {
    std::vector<std::string> found;
    for (const std::string& file : text_paths(given).files)
      found.push_back(file.substr(path("").size()));
    return found;
  }

 private:
  ScratchFile root_;
};

using Names = std::vector<std::string>;

TEST(TextPaths, are_those_of_a_folder_a_pattern_or_a_list) {
  const Folder folder(Folder::Files{{"b.txt", "b"},
                                    {"a.txt", "a"},
                                    {"deep/c.md", "c"},
                                    {".hidden/d", "d"},
                                    {".e", "e"},
                                    {"empty", ""},
                                    {"zeros", std::string("a\0b", 3)},
                                    {"x,y", "f"}});
  EXPECT_EQ(folder.names(folder.path("")), (Names{"a.txt", "b.txt", "deep/c.md", "x,y"}));
  EXPECT_EQ(text_paths(folder.path("")).left_out, 2);
  EXPECT_EQ(folder.names(folder.path("*.txt")), (Names{"a.txt", "b.txt"}));
  EXPECT_EQ(folder.names(folder.path("deep") + ", " + folder.path("?.txt")),
            (Names{"deep/c.md", "a.txt", "b.txt"}));
  EXPECT_EQ(folder.names(folder.path("x,y")), Names{"x,y"});
  EXPECT_EQ(text_paths("none.txt").files, Names{"none.txt"});
}

TEST(TextPaths, without_a_file_say_what_to_do) {
  const Folder folder(Folder::Files{{"deep/empty", ""}});
  expect_says(refusal_of([&] { text_paths(folder.path("deep")); }), core::Fault::data,
              "a folder without a file of text");
  expect_says(refusal_of([&] { text_paths(folder.path("*.txt")); }), core::Fault::data,
              "matches no file");
  expect_says(refusal_of([] { text_paths("/usr/share/dictd/nosuch*.dz"); }), core::Fault::data,
              "apt-get install");
  expect_says(refusal_of([] { text_paths(" , "); }), core::Fault::data, "names no file");
}

}  // namespace
}  // namespace weft::data::text_paths_test
