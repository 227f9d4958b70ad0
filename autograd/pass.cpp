#include "autograd/pass.h"

namespace weft::autograd {

Pass Pass::at(std::uint64_t part) const {
  Pass inner = *this;
  inner.stream_ = stream_.fold(part);
  return inner;
}

Pass Pass::at(std::string_view part) const {
  Pass inner = *this;
  inner.stream_ = stream_.fold(part);
  return inner;
}

Pass Pass::without_tape() const {
  Pass quiet = *this;
  quiet.tape_ = nullptr;
  return quiet;
}

Pass Pass::replayed_on(Tape& scratch) const {
  Pass replay = *this;
  replay.tape_ = &scratch;
  replay.replaying_ = true;
  return replay;
}

void Pass::propose(State& state, core::Tensor statistics) const {
  if (training_ && !replaying_ && journal_) journal_->propose(state, std::move(statistics));
}

}  // namespace weft::autograd
