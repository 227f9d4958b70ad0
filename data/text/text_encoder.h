#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/spelling/spelling.h"

namespace weft::data {

/// Writes texts that arrive in pieces as tokens, the same as when each is encoded as a whole, and
/// keeps a few megabytes of them at most.
class TextEncoder {
 public:
  using Take = std::function<void(std::span<const core::Token>)>;

  /// With a boundary, one more token, which is put before the first text and after each.
  /// Encodes as soon as `most_bytes` wait.
  TextEncoder(const Spelling& spelling, std::optional<core::Token> boundary, Take take,
              std::size_t most_bytes = std::size_t(1) << 22)
      : spelling_(spelling), boundary_(boundary), take_(std::move(take)), most_bytes_(most_bytes) {}

  void add(std::string_view piece);
  /// Ends a text; what follows is another one.
  void end();
  /// Hands over what is left. All texts have ended.
  void finish();

 private:
  void flush();
  void flush_ended();
  std::size_t settled(std::string_view text) const;
  std::vector<core::Token> encode(std::string_view text) const;

  const Spelling& spelling_;
  std::optional<core::Token> boundary_;
  Take take_;
  std::size_t most_bytes_;
  std::string buffer_;             ///< texts end to end, not encoded yet
  std::vector<std::size_t> ends_;  ///< of those in the buffer that have ended
  bool begun_ = false;
};

}  // namespace weft::data
