#include "layers/attention/features/passed_sums.h"

#include "layers/attention/features/carried_sums.h"

namespace weft::layers {
namespace {

/// Which of two references can stand for both: to the right they only rise, to the left they only
/// fall, as in the sweeps of one chunk.
using Choice = Real (*)(Real, Real);

/// to += from, lane by lane.
void join(const FeatureProblem& problem, Tensor from, Tensor& to, Choice choose) {
  const Index features = problem.map->features(), width = problem.head_width;
  const Index numbers = CarriedSums::size(features, width);
  Real *const a = from.write().data(), *const b = to.write().data();
  for (Index lane = 0; lane < problem.lanes(); ++lane) {
    CarriedSums first(a + lane * numbers, features, width);
    CarriedSums second(b + lane * numbers, features, width);
    std::vector<Real> both(static_cast<std::size_t>(features));
    for (Index c = 0; c < features; ++c)
      both[std::size_t(c)] = choose(first.reference()[c], second.reference()[c]);
    first.refer(both.data());
    second.refer(both.data());
    second.add(first);
  }
}

/// What comes from one neighbour; with this chunk's own sums, it goes on to the other. -1: none.
Tensor pass_on(const FeatureProblem& problem, Index from, Index to,
               const std::function<Tensor()>& own, Choice choose) {
  const ChunkPlace& chunk = *problem.sequences.chunk;
  if (!chunk.link) return {};
  Tensor on, received;
  if (to >= 0) on = own();  // before it waits
  if (from >= 0) {
    received = Tensor({problem.sequences.batch, problem.heads,
                       CarriedSums::size(problem.map->features(), problem.head_width)});
    chunk.link->receive(from, chunk.number, received.write());
  }
  if (to < 0) return received;
  if (received.size() > 0) join(problem, received, on, choose);
  chunk.link->send(chunk.number, to, on.read());
  return received;
}

}  // namespace

Tensor sums_from_left(const FeatureProblem& problem, const std::function<Tensor()>& own) {
  const ChunkPlace& chunk = *problem.sequences.chunk;
  return pass_on(problem, chunk.number - 1, chunk.is_last() ? -1 : chunk.number + 1, own,
                 [](Real a, Real b) { return std::max(a, b); });
}

Tensor sums_from_right(const FeatureProblem& problem, const std::function<Tensor()>& own) {
  const ChunkPlace& chunk = *problem.sequences.chunk;
  return pass_on(problem, chunk.is_last() ? -1 : chunk.number + 1, chunk.number - 1, own,
                 [](Real a, Real b) { return std::min(a, b); });
}

}  // namespace weft::layers
