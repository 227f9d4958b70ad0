#include "layers/attention/recurrence/chunk_pairs.h"
#include "layers/attention/recurrence/kernel.h"

namespace weft::layers {

Cost recurrence_cost(const RecurrenceProblem& p) {
  Cost lane;
  for (Index c = 0; c < p.chunks(); ++c) {
    const Index n = std::min(p.chunk, p.length() - c * p.chunk), d = p.width;
    const bool carries = c + 1 < p.chunks() || p.sequences.state;
    const Index state = 2 * n * d * d;   // a product of the chunk's rows with a state
    const Index square = 2 * n * n * d;  // of its pairs with its rows
    const Index solved = p.erases() ? n * n * d : 0;
    const Index pairs = ChunkPairs::flops(p, n, p.groups());
    lane.flops += pairs + p.groups() * state + solved + square + (carries ? state : 0);
    const Index rebuilt = p.erases() ? ChunkPairs::flops(p, n, 1) + state + solved + state : state;
    lane.backward_flops +=
        rebuilt + 3 * pairs + solved + (1 + p.groups()) * square + 2 * (1 + p.groups()) * state;
  }
  return {.flops = p.lanes() * lane.flops, .backward_flops = p.lanes() * lane.backward_flops};
}

}  // namespace weft::layers
