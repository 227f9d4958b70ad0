#pragma once

#include <array>
#include <csignal>
#include <string>

namespace weft::experiments {

/// While it lives, SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 do not end the process but ask the run to
/// save and stop at its next step; another SIGINT after that ends the process at once. The handlers
/// found before come back at the end. One at a time.
class StopSignal {
 public:
  StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  bool requested() const { return number() != 0; }
  /// The first signal that came, or 0.
  int number() const;
  /// "SIGTERM"
  std::string name() const;
  /// 128 + number, as shells report it.
  int exit_code() const { return 128 + number(); }

 private:
  static constexpr std::array<int, 4> signals{SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, signals.size()> before_;
};

}  // namespace weft::experiments
