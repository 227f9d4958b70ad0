#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace weft::core {

/// The XXH3-128 of bytes that arrive in pieces.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// Of everything so far, as 32 hexadecimal digits, as printed by xxh128sum.
  std::string text() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace weft::core
