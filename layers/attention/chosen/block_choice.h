#pragma once

#include <memory>
#include <vector>

#include "layers/attention/lists/kernel.h"

namespace weft::layers {

/// Which blocks of keys each query reads: block c holds the tokens c width .. (c + 1) width - 1,
/// and a query reads those up to itself.
struct BlockChoice {
  Index width = 0;   ///< tokens of a block
  Index most = 0;    ///< blocks that a query reads at most
  Index length = 0;  ///< queries of a lane
  /// [lanes, length, most]: numbers ascending, then -1; -1 alone for padding.
  std::vector<std::int32_t> numbers = {};

  const std::int32_t* of(Index lane, Index query) const {
    return numbers.data() + (lane * length + query) * most;
  }
  std::int32_t* of(Index lane, Index query) {
    return numbers.data() + (lane * length + query) * most;
  }
};

/// The list of one round: queries by the r-th block that they chose, then by position. Blocks of
/// scores have one shape, so that no later query moves a bit of an earlier one's row.
TokenList chosen_list(const BlockChoice& choice, Index lane, Index round, Index real_keys);

/// A problem of the engine for lists in which every head reads what it chose, one round for each
/// block; `group`: how many neighbouring heads have one choice.
ListedProblem chosen_problem(const Sequences& sequences, Index heads, Index head_width, Real scale,
                             Index width, Index most);
void read_chosen(ListedProblem& problem, std::shared_ptr<const BlockChoice> choice, Index group);

/// The cost of a call of that problem, heads together; flops at most, since the data decide how
/// well tiles are filled. `own`: every query reads its own block; else pairs are at most, too.
Cost chosen_cost(const ListedProblem& problem, Index width, bool own = true);

/// The tokens up to `query` in some blocks, ascending.
void append_tokens(const std::vector<std::int32_t>& blocks, Index width, Index query,
                   std::vector<std::int32_t>& tokens);

}  // namespace weft::layers
