#include "layers/attention/features/kernel.h"
#include "layers/attention/features/key_sums.h"

namespace weft::layers {
namespace {

/// Counts what the sweeps of one lane do, in their order.
class LaneCost {
 public:
  LaneCost(const FeatureProblem& problem, Index lane)
      : problem_(problem),
        lane_(problem, lane),
        spans_(problem),
        exponentials_(problem.map->form() != FeatureForm::weights),
        features_(problem.map->features()),
        width_(problem.head_width) {}

  Index forward() const {
    Index flops = key_sums();
    for (Index c = 0; c < problem_.chunks() && exponentials_; ++c) flops += maps(keys_only(c));
    for_each_query_chunk([&](const Chunk& chunk, bool carries) {
      flops += maps(chunk) + query_products(chunk) + (carries ? absorbed(chunk.keys) : 0);
    });
    return flops;
  }

  Index backward() const {
    Index flops = key_sums() + query_sums();
    for_each_query_chunk([&](const Chunk& chunk, bool carries) {
      flops += maps(chunk) + query_products(chunk) + (carries ? absorbed(chunk.keys) : 0) +
               problem_.map->flops(chunk.queries);
    });
    for_each_key_chunk([&](const Chunk& chunk, bool carries) {
      flops +=
          maps(chunk) + (carries ? absorbed(chunk.queries) : 0) + problem_.map->flops(chunk.keys);
      if (chunk.keys > 0) flops += 2 * absorbed(chunk.keys) + 2 * inner_products(chunk);
    });
    return flops;
  }

 private:
  Chunk keys_only(Index c) const {
    Chunk chunk = lane_.chunk(c);
    chunk.queries = 0;
    return chunk;
  }
  Index maps(const Chunk& chunk) const {
    return problem_.map->flops(chunk.keys) + problem_.map->flops(chunk.queries);
  }
  /// A product of that many rows with [P, D].
  Index absorbed(Index rows) const { return 2 * rows * features_ * width_; }
  /// The weights of a chunk and their product with its values.
  Index inner_products(const Chunk& chunk) const {
    return 2 * chunk.queries * chunk.keys * (features_ + width_);
  }
  Index query_products(const Chunk& chunk) const {
    return absorbed(chunk.queries) + inner_products(chunk);
  }

  /// Before the sweeps: keys of every span but the last, queries of every span but the first.
  Index key_sums() const {
    Index flops = 0;
    for (Index c = 0; c < spans_.begin(spans_.count() - 1); ++c)
      flops += maps(keys_only(c)) + absorbed(keys_only(c).keys);
    return flops;
  }
  Index query_sums() const {
    Index flops = 0;
    for (Index c = spans_.count() > 1 ? spans_.begin(1) : problem_.chunks(); c < problem_.chunks();
         ++c) {
      Chunk chunk = lane_.chunk(c);
      if (chunk.queries == 0) continue;
      if (!exponentials_) chunk.keys = 0;
      flops += maps(chunk) + absorbed(chunk.queries);
    }
    return flops;
  }

  template <class Body>
  void for_each_query_chunk(const Body& body) const {
    for (Index span = 0; span < spans_.count(); ++span) {
      const Index end = end_of_queries(lane_, spans_.begin(span), spans_.end(span));
      for (Index c = spans_.begin(span); c < end; ++c) body(lane_.chunk(c), c + 1 < end);
    }
  }
  template <class Body>
  void for_each_key_chunk(const Body& body) const {
    for (Index span = 0; span < spans_.count(); ++span) {
      const Index begin = begin_of_keys(lane_, spans_.begin(span), spans_.end(span));
      for (Index c = begin; c < spans_.end(span); ++c) body(lane_.chunk(c), c > begin);
    }
  }

  const FeatureProblem& problem_;
  FeatureLane lane_;
  FeatureSpans spans_;
  bool exponentials_;
  Index features_, width_;
};

}  // namespace

Cost feature_cost(const FeatureProblem& problem) {
  Cost cost;
  for (Index lane = 0; lane < problem.lanes(); ++lane) {
    const LaneCost own(problem, lane);
    cost.flops += own.forward();
    cost.backward_flops += own.backward();
  }
  const Index queries = problem.lanes() * problem.sequences.queries;
  const Index tops = problem.lanes() * (problem.chunks() + 1) * problem.map->features();
  Index kept = 0;
  if (problem.map->form() != FeatureForm::shares) kept += queries * (problem.head_width + 1);
  if (problem.map->form() != FeatureForm::weights) kept += tops;
  cost.saved_bytes = kept * Index(sizeof(Real));
  return cost;
}

}  // namespace weft::layers
