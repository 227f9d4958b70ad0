#include <sstream>

#include "experiments/sweep/display.h"

namespace weft::experiments {
namespace {

TEST(SweepDisplay, a_file_gets_messages_alone_and_no_control_character) {
  std::ostringstream out;
  SweepDisplay display(out, 0);
  display.show({"running"});
  display.message("done");
  EXPECT_EQ(out.str(), "done\n");
}

TEST(SweepDisplay, a_terminal_gets_a_table_drawn_in_place_below_the_messages) {
  std::ostringstream out;
  SweepDisplay display(out, 8);
  display.show({"one", "a line too long"});
  display.message("done");
  display.show({});
  EXPECT_EQ(out.str(),
            "one\na line \n"
            "\033[2A\r\033[Jdone\none\na line \n"
            "\033[2A\r\033[J");
}

}  // namespace
}  // namespace weft::experiments
