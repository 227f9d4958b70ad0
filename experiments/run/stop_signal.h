#pragma once

#include <array>
#include <csignal>
#include <string>

namespace weft::experiments {

/// Thrown where work is given up because a signal asked for it; not an error.
struct Interrupted {};

/// While it lives, signals that would end the process ask the run to save and stop instead: a
/// request to end (SIGTERM, SIGINT, SIGUSR1, SIGUSR2), a lost terminal (SIGHUP), a closed pipe
/// (SIGPIPE), a limit of time (SIGXCPU, SIGALRM). Another SIGINT after that ends the process at
/// once. SIGHUP and SIGPIPE stay ignored where they were (nohup). The handlers found before come
/// back at the end. One at a time.
class StopSignal {
 public:
  StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  bool requested() const { return number() != 0; }
  void throw_if_requested() const {
    if (requested()) throw Interrupted();
  }
  /// The first signal that came, or 0.
  int number() const;
  std::string name() const { return name_of(number()); }
  /// 128 + number, as shells report it.
  int exit_code() const { return 128 + number(); }
  /// "SIGTERM"
  static std::string name_of(int number);

 private:
  static constexpr std::array<int, 8> signals{SIGTERM, SIGINT,  SIGUSR1, SIGUSR2,
                                              SIGHUP,  SIGPIPE, SIGXCPU, SIGALRM};
  std::array<struct sigaction, signals.size()> before_;
};

}  // namespace weft::experiments
