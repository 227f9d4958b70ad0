#include "experiments/run/stop_signal.h"

#include <cstring>

#include "core/error.h"

namespace weft::experiments {
namespace {

volatile std::sig_atomic_t first_signal = 0;
bool installed = false;

/// Calls only what a signal handler may.
void note_signal(int number) {
  if (first_signal != 0 && number == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);  // takes effect when this handler returns
  }
  if (first_signal == 0) first_signal = number;
}

}  // namespace

StopSignal::StopSignal() {
  core::require(!installed, "stop signal: only one at a time");
  installed = true;
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], &action, &before_[i]);
    const bool stays = signals[i] == SIGHUP || signals[i] == SIGPIPE;
    if (stays && before_[i].sa_handler == SIG_IGN) ::sigaction(signals[i], &before_[i], nullptr);
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  installed = false;
}

int StopSignal::number() const { return first_signal; }

std::string StopSignal::name_of(int number) {
  const char* abbreviation = ::sigabbrev_np(number);
  return abbreviation ? std::string("SIG") + abbreviation : "no signal";
}

}  // namespace weft::experiments
