#pragma once

#include <span>

#include "core/arrays/tokens.h"

namespace weft::data {

/// A long run of tokens, wherever it is kept. Any thread may read at any time.
class StoredTokens {
 public:
  virtual ~StoredTokens() = default;

  virtual core::Index size() const = 0;
  /// Copies the tokens begin .. begin + out.size() - 1.
  virtual void read(core::Index begin, std::span<core::Token> out) const = 0;
};

}  // namespace weft::data
