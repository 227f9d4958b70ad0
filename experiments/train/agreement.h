#pragma once

#include "core/ranks/ranks.h"
#include "experiments/run/stop_signal.h"

namespace weft::experiments {

using core::Index;

/// What all ranks of a training run do together.
enum class Duty : Index { nothing, count_steps, step, evaluate, save, restore, end };

/// The first rank says what is done next; the others learn it, and all learn of a signal that came
/// to any of them. With one rank it is what was said, or the signal.
class Agreement {
 public:
  explicit Agreement(core::Ranks& ranks) : ranks_(ranks) {}

  /// For the first rank: begins a duty with all others. Instead of one that can wait (a step, an
  /// evaluation, a checkpoint) it throws Interrupted where a signal has come to any rank, once.
  void begin(Duty duty, Index argument = 0);
  /// For the others: waits for the next duty.
  struct Call {
    Duty duty = Duty::nothing;
    Index argument = 0;
  };
  Call next();

  /// For all ranks at once, inside a duty: throws Interrupted on all where a signal has come to
  /// any.
  void poll();
  /// For the first rank, between duties: throws Interrupted if a signal has come to it.
  void throw_if_requested();

  /// The signal that ends the run, or 0; from now on signals change nothing.
  int signal() const { return signal_; }
  /// 128 + signal, as shells report it.
  int exit_code() const { return 128 + signal_; }

 private:
  /// The largest of all words; a signal that came to this rank is said first.
  void exchange(Index& word);
  void throw_once();

  core::Ranks& ranks_;
  StopSignal own_;
  int signal_ = 0;
  bool stopping_ = false;  ///< the signal has been thrown
};

}  // namespace weft::experiments
