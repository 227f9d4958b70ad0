#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "experiments/run_pages/run_record.h"
#include "experiments/sweep/plan.h"

namespace weft::experiments {

/// A trial of a sweep as it is now.
struct WatchedTrial {
  std::string id, label;
  std::string state;  ///< "waiting", "running", "scoring", "done", "failed", "diverged", ...
  Index step = 0, steps = 0;
  double seconds_left = -1;  ///< negative when it is not known
  std::string reason = {};
  double best = std::numeric_limits<double>::quiet_NaN();  ///< validation loss
};

/// The state of a run, a sweep or a folder at some moment.
struct WatchedState {
  std::string title;
  bool is_sweep = false;
  std::vector<WatchedTrial> trials = {};  ///< of a sweep, those whose turn it is
  Index later = 0;                        ///< more that follow when these have ended
  std::vector<RunRecord> runs = {};  ///< those whose curves are shown; trials by their settings
  double seconds_left = -1;          ///< of a sweep
};

/// A run, a sweep or a folder of runs, read again and again. It may appear later, be continued, be
/// deleted and come back: every look takes what is there. Nothing is written.
class Watched {
 public:
  explicit Watched(std::filesystem::path place) : place_(std::move(place)) {}

  WatchedState look();

 private:
  /// A run is read again only when its files have changed.
  const RunRecord& run_at(const std::filesystem::path& directory);
  void look_at_sweep(WatchedState& state);

  struct Known {
    std::string stamp;
    RunRecord record;
  };
  std::filesystem::path place_;
  std::map<std::filesystem::path, Known> known_;
};

/// As markup inside a page.
std::string watched_body(const WatchedState& state);
/// As lines for a terminal.
std::vector<std::string> watched_lines(const WatchedState& state);

/// "▁▃█": the newest values of a curve, `width` of them.
std::string sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace weft::experiments
