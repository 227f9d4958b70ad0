#pragma once

#include <algorithm>
#include <memory>

#include "layers/attention/contract/lane.h"
#include "layers/attention/features/feature_map.h"

namespace weft::layers {

/// The sizes of one call of feature-map attention.
struct FeatureProblem {
  Sequences sequences;
  Index heads, head_width;
  std::shared_ptr<const FeatureMap> map;
  Real eps;
  Index chunk;
  core::Precision precision = core::Precision::float32;

  Index lanes() const { return sequences.batch * heads; }
  /// Chunks of keys, and with the queries of the same places when causal, then those of the
  /// queries.
  Index chunks() const {
    const Sequences& s = sequences;
    return count(s.keys) + (s.causal ? 0 : count(s.queries));
  }
  /// Rows of the largest chunk.
  Index rows() const { return std::min(chunk, std::max(sequences.keys, sequences.queries)); }

 private:
  friend class FeatureLane;
  Index count(Index extent) const { return (extent + chunk - 1) / chunk; }
};

/// Keys and queries that a sweep takes together.
struct Chunk {
  Index key, keys;       ///< the first, and how many
  Index query, queries;  ///< the same
  Index lead;            ///< query row r has the place of key row r + lead

  /// How many keys of this chunk query row r reads.
  Index readable(Index r) const { return std::min(keys, r + lead + 1); }
  /// Places of keys and queries, a query's being that of the last key it reads.
  Index places() const { return std::max(keys, queries + lead); }
};

/// One head of one sequence as a row of chunks. Causal sequences are cut by place, keys and queries
/// side by side; where every query reads every key, the chunks of the keys come first and those of
/// the queries after them. Either way a query reads the keys of all earlier chunks and those of
/// its own up to its place, and one sweep serves both.
class FeatureLane : public HeadLane {
 public:
  FeatureLane(const FeatureProblem& p, Index lane)
      : HeadLane(p.sequences, p.heads, p.heads, p.head_width, lane), problem_(p) {}

  Chunk chunk(Index c) const {
    const Sequences& s = problem_.sequences;
    const Index first = c * problem_.chunk, last = std::min(first + problem_.chunk, s.keys);
    const Index keys = std::clamp<Index>(real_keys - first, 0, std::max<Index>(0, last - first));
    if (s.causal) {
      const Index offset = s.keys - s.queries, from = std::clamp(offset, first, last);
      return {first, keys, from - offset, last - from, from - first};
    }
    if (c < problem_.count(s.keys)) return {first, keys, 0, 0, 0};
    const Index query = (c - problem_.count(s.keys)) * problem_.chunk;
    return {0, 0, query, std::min(problem_.chunk, s.queries - query), 0};
  }

  /// How many queries come before the first key and read nothing.
  Index idle_queries() const {
    const Sequences& s = problem_.sequences;
    return s.causal ? std::max<Index>(0, s.queries - s.keys) : 0;
  }

 private:
  const FeatureProblem& problem_;
};

/// How the lanes are shared out over tasks: each in one span of chunks where there are lanes
/// enough, else in several, for each of which the sum before it is made first. By shape alone, so
/// that results do not depend on the number of threads.
class FeatureSpans {
 public:
  explicit FeatureSpans(const FeatureProblem& problem)
      : chunks_(problem.chunks()),
        count_(std::clamp<Index>(wanted_tasks / std::max<Index>(1, problem.lanes()), 1,
                                 std::max<Index>(1, chunks_ / least_chunks))) {}

  Index count() const { return count_; }
  Index begin(Index span) const { return span * chunks_ / count_; }
  Index end(Index span) const { return begin(span + 1); }

 private:
  static constexpr Index wanted_tasks = 8, least_chunks = 4;
  Index chunks_, count_;
};

}  // namespace weft::layers
