#include <set>

#include "tests/architecture/source_tree.h"

namespace weft::architecture::gradients_test {
namespace {

std::set<std::string> names_in(const std::vector<std::string>& folders,
                               const std::string& pattern) {
  std::set<std::string> names;
  for (const File& file : files_under(folders, {".h", ".cpp"}))
    for (const auto& name : all_matches(file.text(), pattern)) names.insert(name);
  return names;
}

TEST(Gradients, every_recorded_op_has_a_gradient_check) {
  const auto recorded = names_in({"autograd", "layers"}, "\\brecord\\(\\s*\"([^\"]+)\"");
  const auto checked = names_in({"tests"}, "\\bcheck_gradient\\(\\s*\"([^\"]+)\"");
  ASSERT_FALSE(recorded.empty()) << "no record(\"name\", ...) found in autograd/ or layers/: has "
                                    "the call changed its form? Then change this test as well.";
  for (const auto& op : recorded)
    EXPECT_TRUE(checked.contains(op))
        << "the op \"" << op << "\" is recorded but its gradient is never checked. Add a test that "
        << "calls check_gradient(\"" << op << "\", ...) to tests/<folder>/<op>_gradient_test.cpp.";
}

TEST(Gradients, every_op_is_recorded_under_a_literal_name) {
  for (const File& file : files_under({"autograd", "layers"}, {".cpp"})) {
    if (file.path == "autograd/tape.cpp") continue;
    for (const auto& first : all_matches(file.text(), "\\brecord\\(\\s*([^\\s])"))
      EXPECT_EQ(first, "\"") << file.path
                             << ": write the op's name as a literal in record(\"name\", "
                             << "...), so that its gradient check can be found.";
  }
}

}  // namespace
}  // namespace weft::architecture::gradients_test
