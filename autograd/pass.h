#pragma once

#include <memory>
#include <string_view>

#include "autograd/journal.h"
#include "autograd/tape.h"
#include "core/rng.h"

namespace weft::autograd {

/// The context that every layer receives with the activations: the tape if any, the random stream
/// of this place in the model, and the step's journal. A default Pass is plain inference.
class Pass {
 public:
  Pass() = default;
  /// A training pass of one micro-batch.
  Pass(Tape& tape, core::Rng stream, Journal& journal)
      : tape_(&tape), stream_(stream), journal_(&journal), training_(true) {}
  /// An evaluation pass: nothing is recorded, dropout is off, hashes draw from `stream`.
  explicit Pass(core::Rng stream) : stream_(stream) {}

  Tape* tape() const { return tape_; }
  /// Dropout and statistics are on.
  bool training() const { return training_; }
  /// The stream of this place: drawn the same in a replay, in a resumed run, at any thread count.
  const core::Rng& stream() const { return stream_; }

  /// The pass of one part of this place.
  Pass at(std::uint64_t part) const;
  Pass at(std::string_view part) const;

  /// The same place evaluated without recording, for ops that keep a private tape.
  Pass without_tape() const;
  /// The same place run again on a private tape: decisions are read back, states left alone.
  Pass replayed_on(Tape& scratch) const;

  /// A discrete choice that no gradient passes: made once by `make`, read back at replay.
  template <class Make>
  auto decide(std::string_view name, const Make& make) const {
    using Decision = std::shared_ptr<const decltype(make())>;
    const std::uint64_t key = stream_.fold(name).key();
    if (journal_)
      if (const std::any* earlier = journal_->find(key)) return std::any_cast<Decision>(*earlier);
    const Decision decision = std::make_shared<const decltype(make())>(make());
    if (journal_) journal_->store(key, decision);
    return decision;
  }

  /// Proposes additive statistics to a state; nothing in evaluation and at replay.
  void propose(State& state, core::Tensor statistics) const;

  /// The journal of the step; null in evaluation.
  Journal* journal() const { return journal_; }
  /// Runs a part a second time: what must happen once has happened.
  bool replaying() const { return replaying_; }

 private:
  Tape* tape_ = nullptr;
  core::Rng stream_{0};
  Journal* journal_ = nullptr;
  bool training_ = false;
  bool replaying_ = false;
};

}  // namespace weft::autograd
