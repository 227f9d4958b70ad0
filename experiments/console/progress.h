#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/real.h"
#include "experiments/console/live_text.h"

namespace weft::experiments {

/// Seconds on a clock that never goes back.
double steady_seconds();
/// The width of the terminal that a file descriptor belongs to; 0 when it is no terminal, or one
/// that cannot redraw a line (TERM=dumb).
int terminal_columns(int descriptor);

/// Shows how a run is doing. On a terminal one live line, with messages above it; in a file plain
/// lines now and then and never a control character.
class Progress {
 public:
  struct Settings {
    /// of the terminal at the moment; 0: plain lines
    std::function<int()> columns = [] { return 0; };
    std::ostream* log = nullptr;  // gets the messages and plain lines too
    double every_seconds = 10;    // between plain lines
    core::Index every_steps = 0;  // a plain line also at multiples of this; 0: never
    std::function<double()> clock = steady_seconds;
  };

  struct Line {
    core::Index step = 0, steps = 0;  // steps: 0 when the budget is not counted in steps
    double done = 0;                  // share of the budget used, 0 to 1
    double loss = std::numeric_limits<double>::quiet_NaN();
    std::optional<double> validation = {};
    bool best = false;  // the validation is the best so far
    double lr = 0;
    double tokens_per_s = 0;
  };

  Progress(std::ostream& out, Settings settings);
  /// Leaves the last line on the screen.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const Line& line);
  /// Control characters other than line breaks and tabs, as a sample may hold, are shown as dots.
  void message(std::string_view text);
  /// Shows the last line whatever the time, and ends it. Updates may follow.
  void finish();

 private:
  std::string text_of(const Line& line, double now) const;
  /// Whether a file, and the log, get this line.
  bool plain_line_is_due(const Line& line, double now) const;
  void show(double now);
  void log(double now);

  std::ostream& out_;
  Settings settings_;
  std::optional<Line> line_;
  LiveText live_;
  bool shown_ = true, logged_ = true;  // the line as it is has been printed
  double first_time_ = 0, first_done_ = 0, live_time_ = 0, plain_time_ = 0;
  bool first_ = true;
};

}  // namespace weft::experiments
