#include "autograd/profile.h"

#include "core/counters.h"
#include "core/memory.h"
#include "core/scope.h"

namespace weft::autograd {

void Profile::restart() {
  last_ = std::chrono::steady_clock::now();
  flops_ = core::counters().flops;
  live_ = core::memory_use().live;
}

double Profile::lap() {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
}

void Profile::forward(const char* op) {
  Entry& entry = entries_[{core::Scope::path(), op}];
  ++entry.calls;
  entry.forward_s += lap();
  entry.flops += core::counters().flops - flops_;
  entry.bytes += core::memory_use().live - live_;
  restart();
}

void Profile::backward(const char* op, const std::string& scope) {
  Entry& entry = entries_[{scope, op}];
  entry.backward_s += lap();
  entry.flops += core::counters().flops - flops_;
  restart();
}

}  // namespace weft::autograd
