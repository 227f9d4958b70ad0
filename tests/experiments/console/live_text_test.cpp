#include "experiments/console/live_text.h"

#include <sstream>

namespace weft::experiments::live_text_test {
namespace {

TEST(LiveText, a_file_gets_messages_alone_and_no_control_character) {
  std::ostringstream out;
  LiveText display(out, 0);
  display.show({"running"});
  display.message("done");
  EXPECT_EQ(out.str(), "done\n");
}

TEST(LiveText, a_terminal_gets_a_table_drawn_in_place_below_the_messages) {
  std::ostringstream out;
  LiveText display(out, 8);
  display.show({"one", "a line too long"});
  display.message("done");
  display.show({});
  EXPECT_EQ(out.str(),
            "one\na line \n"
            "\033[2A\r\033[Jdone\none\na line \n"
            "\033[2A\r\033[J");
}

TEST(LiveText, lines_that_are_left_stay_above_what_follows) {
  std::ostringstream out;
  LiveText display(out, 80);
  display.show({"step 9"});
  display.leave();
  display.message("done");
  EXPECT_EQ(out.str(), "step 9\ndone\n");
}

TEST(Papercut15, a_terminal_that_becomes_narrower_is_redrawn_in_place) {
  std::ostringstream out;
  int columns = 12;
  LiveText display(out, [&] { return columns; });
  display.show({"step 9 of 20"});
  columns = 5;
  display.show({"step 10 of 20"});
  EXPECT_EQ(out.str(),
            "step 9 of 2\n"
            "\033[3A\r\033[Jstep\n");
}

}  // namespace
}  // namespace weft::experiments::live_text_test
