#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/tokens/packed_tokens.h"

namespace weft::data {

/// Takes the tokens of a text while it is read: a run for each split, one after the other in the
/// end. Those of a split arrive in order, those of several splits in any.
class TokenRuns {
 public:
  virtual ~TokenRuns() = default;

  /// To be called before any token arrives. `least`: how many will arrive at least.
  virtual void begin(Index vocabulary, Index least) = 0;
  void append(Split split, std::span<const Token> tokens) {
    sizes_[std::size_t(split)] += Index(tokens.size());
    store(split, tokens);
  }

  Index size(Split split) const { return sizes_[std::size_t(split)]; }
  Index size() const { return sizes_[0] + sizes_[1] + sizes_[2]; }

 private:
  virtual void store(Split split, std::span<const Token> tokens) = 0;

  std::array<Index, 3> sizes_{};
};

/// Runs in memory. Where they do not fit, core::OutOfMemory says so before the memory is taken, and
/// names `weft data prepare`, which needs little.
class MemoryRuns final : public TokenRuns {
 public:
  /// `text` names what is read.
  explicit MemoryRuns(std::string text) : text_(std::move(text)) {}

  void begin(Index vocabulary, Index least) override;
  PackedTokens take();

 private:
  void store(Split split, std::span<const Token> tokens) override;
  void reserve(PackedTokens& run, Index size) const;

  std::string text_;
  Index width_ = 1;
  std::vector<PackedTokens> runs_;
};

}  // namespace weft::data
