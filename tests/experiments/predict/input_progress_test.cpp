#include "experiments/predict/input_progress.h"

#include <sstream>

namespace weft::experiments::input_progress_test {
namespace {

/// The progress of an input of so many bytes, at times that the test sets.
struct Reading {
  std::ostringstream out;
  double now = 0;
  InputProgress progress;

  explicit Reading(int columns, std::uint64_t whole)
      : progress(out, columns, whole, [this] { return now; }) {}

  void update_at(double time, core::Index records, std::uint64_t bytes) {
    now = time;
    progress.update(records, bytes);
  }
};

TEST(InputProgress, says_nothing_of_an_input_that_is_read_soon) {
  Reading reading(0, 1000);
  reading.update_at(1, 10, 100);
  reading.update_at(9.9, 99, 990);
  EXPECT_EQ(reading.out.str(), "");
}

TEST(InputProgress, says_of_a_long_input_every_ten_seconds_how_far_it_is_and_how_long_it_takes) {
  Reading reading(0, 1000);
  reading.update_at(10, 200, 250);
  reading.update_at(15, 300, 400);
  reading.update_at(20, 400, 500);
  EXPECT_EQ(reading.out.str(),
            "25.0%  200 lines, 20 a second, ETA 30s\n"
            "50.0%  400 lines, 20 a second, ETA 20s\n");
}

TEST(InputProgress, counts_the_lines_of_a_pipe_whose_end_is_not_known) {
  Reading reading(0, 0);
  reading.update_at(10, 20000, 0);
  EXPECT_EQ(reading.out.str(), "20000 lines, 2.0k a second\n");
}

TEST(InputProgress, keeps_one_line_on_a_terminal_within_its_width) {
  Reading reading(20, 1000);
  reading.update_at(0.6, 60, 100);
  const std::string first = reading.out.str();
  EXPECT_EQ(first, "10.0%  60 lines, 10\n") << "cut, so that no line takes two rows";
  reading.update_at(0.7, 70, 120);
  EXPECT_EQ(reading.out.str(), first) << "not twice in half a second";
}

}  // namespace
}  // namespace weft::experiments::input_progress_test
