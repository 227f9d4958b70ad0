#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/arrays/shape.h"

namespace weft::core {

using Token = std::int32_t;

/// A target that no loss counts: padding, or a position the task does not ask about.
inline constexpr Token no_target = -1;

/// How many tokens of each sequence of a batch are real, the rest being padding; null when all are.
using Lengths = std::shared_ptr<const std::vector<Index>>;

/// An immutable array of token ids; copies share it, so a pullback may keep one.
class Tokens {
 public:
  Tokens() = default;
  Tokens(Shape shape, std::vector<Token> ids);

  const Shape& shape() const { return shape_; }
  Index size() const { return shape_.size(); }
  std::span<const Token> read() const {
    return {ids_ ? ids_->data() : nullptr, std::size_t(size())};
  }

 private:
  Shape shape_{0};
  std::shared_ptr<const std::vector<Token>> ids_;
};

}  // namespace weft::core
