#include "layers/attention/partition/graph.h"

#include <algorithm>

namespace weft::layers {

void PartitionGraph::of(Index query, std::vector<LabelRun>& out) const {
  const Interval span = tree_.span(query);
  if (query >= tree_.tokens()) {
    out.push_back({span.begin, span.end, labels_.first(tree_.level_of(query)), 0});
    return;
  }
  const std::size_t first = out.size();
  out.push_back({query, query + 1, labels_.first(0), 0});
  for (const WalkRun& run : walk_left(query, labels_.fan)) {
    const Index before = tree_.first(run.level),
                farthest = run.first_step + run.end - run.begin - 1;
    out.push_back(
        {before + run.begin, before + run.end, labels_.left(run.walk_level, farthest), -2});
  }
  if (!causal_)
    for (const WalkRun& run : walk_right(query, tree_.tokens(), labels_.fan)) {
      const Index before = tree_.first(run.level);
      out.push_back(
          {before + run.begin, before + run.end, labels_.right(run.walk_level, run.first_step), 2});
    }
  std::sort(out.begin() + std::ptrdiff_t(first), out.end(),
            [](const LabelRun& a, const LabelRun& b) { return a.begin < b.begin; });
}

}  // namespace weft::layers
