#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// Softmax attention of the real tokens of each sequence by position, over keys of another number
/// than tokens; padding gives 0. The pattern says by itself what is causal.
class PositionBranch {
 public:
  struct Form {
    Index heads, kv_heads, head_width;
    Real scale;
    core::Precision precision = core::Precision::float32;
  };
  /// Both by the tokens of a sequence, padding counted.
  PositionBranch(const Form& form, std::function<Index(Index tokens)> keys_of,
                 std::function<Pattern(Index tokens)> pattern_of)
      : form_(form), keys_of_(std::move(keys_of)), pattern_of_(std::move(pattern_of)) {}

  /// For sequences of tokens.
  PatternProblem problem(const Sequences& tokens) const;

 private:
  std::shared_ptr<const PatternPlan> plan(Index tokens, Index real) const;

  /// Plans of the lengths seen last.
  struct Planned {
    Index tokens, real;
    std::shared_ptr<const PatternPlan> plan;
  };

  Form form_;
  std::function<Index(Index)> keys_of_;
  std::function<Pattern(Index)> pattern_of_;
  mutable std::vector<Planned> cache_;
};

/// Query t reads the entries that are closed with token t, the first `closed(t)` keys.
Pattern stair_pattern(std::function<Index(Index query)> closed);
/// Query t reads the keys of tokens t - window + 1 .. t, token 0 being key `first`.
Pattern window_behind(Index first, Index window);

}  // namespace weft::layers
