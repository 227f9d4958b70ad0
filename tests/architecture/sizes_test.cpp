#include "tests/architecture/source_tree.h"

namespace weft::architecture::sizes_test {
namespace {

constexpr std::size_t longest_file = 400, longest_header = 200, longest_function = 80;

std::size_t indentation(const std::string& line) { return line.find_first_not_of(' '); }

bool opens_a_declaration(const std::string& line, std::size_t indent) {
  return indentation(line) == indent && line[indent] != '}' && line[indent] != '#' &&
         line.compare(indent, 2, "//") != 0;
}

// In formatted code a function ends in a line that holds only its brace, and it opens with the
// nearest line above that stands as far to the left.
std::size_t start_of_block(const File& file, std::size_t end, std::size_t indent) {
  std::size_t start = end;
  while (start > 0 && !opens_a_declaration(file.lines[start], indent)) --start;
  return start;
}

TEST(Sizes, a_file_holds_one_idea) {
  for (const File& file : sources())
    EXPECT_LE(file.lines.size(), file.is_header() ? longest_header : longest_file)
        << file.path << " is too long: aim at 300 lines for a source, 150 for a header. Find the "
        << "second idea in it and give that a file of its own.";
}

TEST(Sizes, a_function_fits_on_a_screen) {
  for (const File& file : sources())
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (const std::size_t indent : {0u, 2u}) {
        if (file.lines[i] != std::string(indent, ' ') + "}") continue;
        const std::size_t start = start_of_block(file, i, indent);
        EXPECT_LE(i - start + 1, longest_function)
            << file.at(start) << ": this function is too long (aim at 50 lines). Name its steps "
            << "and make each a function.";
      }
}

}  // namespace
}  // namespace weft::architecture::sizes_test
