#pragma once

#include <new>
#include <string>

namespace weft::core {

/// An allocation that failed, with what did not fit and what to change.
class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(std::string reason, std::string advice)
      : reason_(std::move(reason)),
        advice_(std::move(advice)),
        both_(reason_ + (advice_.empty() ? "" : ". ") + advice_) {}

  const char* what() const noexcept override { return both_.c_str(); }
  const std::string& reason() const { return reason_; }
  const std::string& advice() const { return advice_; }

 private:
  std::string reason_, advice_, both_;
};

}  // namespace weft::core
