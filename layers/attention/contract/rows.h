#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/tokens.h"

namespace weft::layers {

using core::Index;

/// The rows that one sequence has inside the layers: those of its tokens and those that a mechanism
/// adds to them. Padding comes after all of them.
struct RowLayout {
  /// A row that is no token's and begins with a learned vector; the others begin as zeros.
  struct Start {
    Index row, vector;
    bool operator==(const Start&) const = default;
  };

  Index rows = 0;
  std::vector<Index> of_tokens;  ///< the row of each token, ascending
  Index root = 0;                ///< the row that represents the whole sequence
  std::vector<Start> starts = {};
  /// Behind which token each sentence ends, ascending; empty where a mechanism has none.
  std::vector<Index> sentence_ends = {};

  Index tokens() const { return Index(of_tokens.size()); }
  bool operator==(const RowLayout&) const = default;
};

/// One for each sequence of a call.
using RowLayouts = std::shared_ptr<const std::vector<RowLayout>>;

/// Which rows a mechanism wants of a sequence. The trunk spreads tokens over them before its first
/// layer and takes the tokens' rows after the last, so all its layers must want the same.
class RowRule {
 public:
  virtual ~RowRule() = default;

  /// The rows of a sequence of this many tokens with unknown content, for cost estimates.
  virtual RowLayout layout(Index tokens) const = 0;
  virtual RowLayout layout(std::span<const core::Token> tokens) const {
    return layout(Index(tokens.size()));
  }
  /// How many learned vectors rows can begin with.
  virtual Index start_vectors() const { return 0; }
  /// Decoding: the rows that are complete with the token at this position and become keys of later
  /// ones, as positions for `Attention::step`; tokens have those below 2^32.
  virtual std::vector<Index> completed_by(Index) const { return {}; }
  /// Says what it does, so that equal words mean equal rows.
  virtual std::string words() const = 0;
};

}  // namespace weft::layers
