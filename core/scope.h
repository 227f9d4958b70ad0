#pragma once

#include <string>
#include <string_view>

#include "core/real.h"

namespace weft::core {

/// Names what the calling thread is working on ("layers.2.attention") while it lives. Memory
/// counters, profiles and errors about non-finite values speak of the current path.
class Scope {
 public:
  explicit Scope(std::string_view name);
  Scope(std::string_view name, Index number);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  static const std::string& path();

 private:
  std::size_t outer_;
};

/// Puts the calling thread at a whole path while it lives: a pullback works where its op was
/// recorded.
class ResumedScope {
 public:
  explicit ResumedScope(const std::string& path);
  ~ResumedScope();
  ResumedScope(const ResumedScope&) = delete;
  ResumedScope& operator=(const ResumedScope&) = delete;

 private:
  std::string outer_;
};

}  // namespace weft::core
