#include "layers/attention/chosen/block_choice.h"

#include <algorithm>
#include <numeric>

#include "layers/attention/lists/attention.h"

namespace weft::layers {

TokenList chosen_list(const BlockChoice& choice, Index lane, Index round, Index real_keys) {
  const Index width = choice.width, queries = std::min(choice.length, real_keys);
  const Index blocks = (real_keys + width - 1) / width;
  TokenList list;
  list.keys.resize(std::size_t(real_keys));
  std::iota(list.keys.begin(), list.keys.end(), 0);
  std::vector<Index> start(std::size_t(blocks) + 1, 0);
  const auto chosen = [&](Index query) { return choice.of(lane, query)[round]; };
  for (Index t = 0; t < queries; ++t)
    if (chosen(t) >= 0) ++start[std::size_t(chosen(t)) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<Index> next = start;
  for (auto* slots : {&list.queries, &list.first, &list.last})
    slots->resize(std::size_t(start.back()));
  for (Index t = 0; t < queries; ++t) {
    const Index block = chosen(t);
    if (block < 0) continue;
    const auto slot = std::size_t(next[std::size_t(block)]++);
    list.queries[slot] = std::int32_t(t);
    list.first[slot] = std::int32_t(block * width);
    list.last[slot] = std::int32_t(std::min((block + 1) * width, t + 1));
  }
  constexpr Index rows = ListRule::most_rows;
  for (Index block = 0; block < blocks; ++block)
    for (Index r = start[std::size_t(block)], end = start[std::size_t(block) + 1]; r < end;
         r += rows)
      list.blocks.push_back({r, std::min(rows, end - r), rows, block * width, width});
  return list;
}

ListedProblem chosen_problem(const Sequences& sequences, Index heads, Index head_width, Real scale,
                             Index width, Index most) {
  return {.sequences = sequences,
          .heads = heads,
          .head_width = head_width,
          .rounds = most,
          .scale = scale,
          .self_as_fallback = false,
          .most_keys = width,
          .rounds_in_turn = true};
}

void read_chosen(ListedProblem& problem, std::shared_ptr<const BlockChoice> choice, Index group) {
  problem.list = [choice = std::move(choice), group, heads = problem.heads, s = problem.sequences](
                     Index lane, Index round) {
    return chosen_list(*choice, lane / group, round, s.real_keys(lane / heads));
  };
}

/// Query t reads min(most, t / width + 1) blocks, all of them whole but its own. Every block of
/// every round may have a tile that is almost empty.
Cost chosen_cost(const ListedProblem& problem, Index width, bool own) {
  const Sequences& s = problem.sequences;
  Cost cost;
  for (Index b = 0; b < s.batch; ++b) {
    const Index n = s.real_keys(b), blocks = (n + width - 1) / width;
    Index slots = 0;
    for (Index t = 0; t < n; ++t) {
      const Index read = std::min(problem.rounds, t / width + 1);
      slots += read;
      const Index whole = own ? read - 1 : std::min(read, t / width);
      const Index open = whole < read ? t % width + 1 : 0;
      cost.scored_pairs += problem.heads * (whole * width + open);
    }
    const Index tiles = std::min(slots, problem.rounds * blocks);
    const Index rows = slots + tiles * (ListRule::most_rows - 1);
    cost.flops += 4 * problem.heads * problem.head_width * rows * width;
    cost.backward_flops += problem.heads * problem.backward_flops(slots, width);
  }
  cost.saved_bytes = listed_saved_bytes(problem);
  return cost;
}

void append_tokens(const std::vector<std::int32_t>& blocks, Index width, Index query,
                   std::vector<std::int32_t>& tokens) {
  for (const Index block : blocks)
    for (Index t = block * width; t < std::min((block + 1) * width, query + 1); ++t)
      tokens.push_back(std::int32_t(t));
}

}  // namespace weft::layers
