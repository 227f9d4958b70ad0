#include "experiments/train/agreement.h"

#include <utility>

#include "core/ranks/collectives.h"

namespace weft::experiments {
namespace {

// Of two words the larger one holds: a signal more than any duty, and a duty more than nothing.
constexpr Index signal_word = Index(1) << 60, duty_word = Index(1) << 48;

}  // namespace

void Agreement::exchange(Index& word) {
  if (own_.requested() && signal_ == 0) word = signal_word + own_.number();
  word = core::largest(ranks_, word);
  if (word >= signal_word && signal_ == 0) signal_ = int(word - signal_word);
}

void Agreement::throw_once() {
  if (signal_ == 0 || std::exchange(stopping_, true)) return;
  throw Interrupted();
}

void Agreement::begin(Duty duty, Index argument) {
  const bool can_wait = duty == Duty::step || duty == Duty::evaluate || duty == Duty::save;
  const Index wanted = Index(duty) * duty_word + argument;
  for (Index word = 0; word != wanted;) {
    if (can_wait) throw_once();
    word = wanted;
    exchange(word);
  }
}

Agreement::Call Agreement::next() {
  Index word = 0;
  exchange(word);
  if (word >= signal_word) return {};
  return {Duty(word / duty_word), word % duty_word};
}

void Agreement::poll() {
  Index word = 0;
  exchange(word);
  throw_once();
}

void Agreement::throw_if_requested() {
  if (own_.requested() && signal_ == 0) signal_ = own_.number();
  throw_once();
}

}  // namespace weft::experiments
