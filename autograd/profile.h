#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "core/real.h"

namespace weft::autograd {

/// The time of a step by layer and op. Ops run one after the other, so the time between
/// two records is the later op's own; arithmetic and memory come from the kernels' counters.
class Profile {
 public:
  struct Entry {
    core::Index calls = 0;
    double forward_s = 0, backward_s = 0;
    core::Index flops = 0;
    core::Index bytes = 0;  ///< live pool bytes after the op's forward, summed
  };
  using Key = std::pair<std::string, std::string>;  ///< scope path, op

  Profile() { restart(); }
  /// Forgets the time since the last event: call where untimed work ends.
  void restart();
  void forward(const char* op);
  void backward(const char* op, const std::string& scope);

  const std::map<Key, Entry>& entries() const { return entries_; }

 private:
  double lap();

  std::map<Key, Entry> entries_;
  std::chrono::steady_clock::time_point last_;
  core::Index flops_ = 0, live_ = 0;
};

}  // namespace weft::autograd
