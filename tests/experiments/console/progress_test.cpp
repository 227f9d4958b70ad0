#include "experiments/console/progress.h"

#include <algorithm>
#include <sstream>

namespace weft::experiments::progress_test {
namespace {

Progress::Line line_at(core::Index step) {
  return {.step = step,
          .steps = 5000,
          .done = double(step) / 5000,
          .loss = 2.0131,
          .validation = 2.0872,
          .best = true,
          .lr = 1e-3,
          .tokens_per_s = 12543};
}

/// A Progress into a text, at times that the test sets.
struct Watched {
  std::ostringstream out;
  double now = 0;
  Progress progress;

  explicit Watched(int columns, double every_seconds = 10, core::Index every_steps = 0)
      : progress(out, {.columns = [columns] { return columns; },
                       .every_seconds = every_seconds,
                       .every_steps = every_steps,
                       .clock = [this] { return now; }}) {}

  void update_at(double time, core::Index step) {
    now = time;
    progress.update(line_at(step));
  }
};

TEST(Progress, shows_step_loss_validation_rate_speed_and_remaining_time) {
  Watched watched(0, 0);
  watched.update_at(0, 0);
  watched.update_at(80, 500);
  EXPECT_EQ(watched.out.str(),
            "step    0/5000  0.0%  loss 2.013  val 2.087*  lr 1.0e-3  12.5k tok/s  ETA ?\n"
            "step  500/5000  10.0%  loss 2.013  val 2.087*  lr 1.0e-3  12.5k tok/s  ETA 12m\n");
}

TEST(Progress, counts_the_remaining_time_from_where_a_run_was_resumed) {
  Watched watched(0, 0);
  watched.update_at(1000, 4000);
  watched.update_at(1010, 4500);
  EXPECT_TRUE(watched.out.str().ends_with("ETA 10s\n")) << watched.out.str();
}

TEST(Progress, leaves_out_what_a_run_does_not_have) {
  Watched watched(0, 0);
  watched.progress.update({.step = 7, .done = 0.5, .loss = 1, .lr = 0, .tokens_per_s = 9});
  EXPECT_EQ(watched.out.str(), "step 7  50.0%  loss 1.000  lr 0.0e+0  9 tok/s  ETA ?\n");
}

TEST(Progress, writes_plain_lines_now_and_then_into_a_file) {
  Watched watched(0, 10, 0);
  for (int i = 0; i <= 100; ++i) watched.update_at(i * 0.5, i);
  watched.update_at(50.5, 101);
  watched.progress.message("saved step 101");
  watched.progress.finish();
  const std::string text = watched.out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6 + 1 + 1);
  EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos);
  EXPECT_NE(text.find("step  101/5000"), std::string::npos);
}

TEST(Progress, writes_plain_lines_at_every_so_many_steps) {
  Watched watched(0, 1e9, 25);
  for (int i = 1; i <= 100; ++i) watched.update_at(i, i);
  const std::string text = watched.out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 4);
}

TEST(Progress, keeps_one_live_line_within_the_width_of_a_terminal) {
  Watched watched(40);
  watched.update_at(0, 1);
  watched.update_at(0.01, 2);
  watched.update_at(0.2, 3);
  watched.progress.finish();
  EXPECT_EQ(watched.out.str(),
            "step    1/5000  0.0%  loss 2.013  val 2\n"
            "\x1b[1A\r\x1b[Jstep    3/5000  0.1%  loss 2.013  val 2\n");
}

TEST(Progress, prints_messages_above_the_live_line) {
  Watched watched(200);
  watched.progress.message("before anything");
  watched.update_at(0, 1);
  const std::string line = watched.out.str().substr(std::string("before anything\n").size());
  watched.progress.message("saved");
  EXPECT_EQ(watched.out.str(), "before anything\n" + line + "\x1b[1A\r\x1b[Jsaved\n" + line);
  watched.progress.finish();
  watched.progress.finish();
  EXPECT_TRUE(watched.out.str().ends_with("saved\n" + line));
}

TEST(Progress, shows_control_characters_of_samples_as_dots) {
  Watched watched(0);
  watched.progress.message("a\r\x1b[31mb\tc\nd\x7f größe");
  EXPECT_EQ(watched.out.str(), "a..[31mb\tc\nd. größe\n");
}

}  // namespace
}  // namespace weft::experiments::progress_test
