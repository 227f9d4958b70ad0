#include "layers/attention/partition/edges.h"

#include <algorithm>
#include <bit>

namespace weft::layers {
namespace {

bool labels_differ(std::span<const LabelRun> runs) {
  return std::ranges::any_of(runs, [&](const LabelRun& run) {
    return run.first != runs.front().first || (run.step != 0 && run.end - run.begin > 1);
  });
}

}  // namespace

EdgeList::EdgeList(const PartitionGraph& graph) : tokens_(graph.tree().tokens()) {
  const PartitionTree& tree = graph.tree();
  for (Index node = 0; node < tree.nodes(); ++node) {
    first_run_.push_back(Index(runs_.size()));
    graph.of(node, runs_);
    const auto own = std::span(runs_).subspan(std::size_t(first_run_.back()));
    if (!labels_differ(own))
      for (LabelRun& run : own) run.first = no_label;
  }
  first_run_.push_back(Index(runs_.size()));
  const Index inside = std::countr_zero(std::uint64_t(most_tokens));  // levels inside a group
  for (Index first = 0; first < tokens_; first += most_tokens) {
    const Index end = first + most_tokens;
    Group group{{first, std::min(tokens_, end)}, {}};
    for (Index level = 1; level <= std::min(inside, tree.levels() - 1); ++level)
      group.spans.push_back({tree.first(level) + (first >> level),
                             std::min(tree.first(level) + (end >> level), tree.first(level + 1))});
    add_group(std::move(group));
  }
  if (tree.levels() - 1 <= inside) return;
  for (Index node = tree.first(inside + 1); node < tree.nodes(); ++node)
    add_group({{0, 0}, {{node, node + 1}}});
}

void EdgeList::add_group(Group group) {
  group.edges_before = count_;
  const auto count = [&](Interval nodes) {
    for (Index node = nodes.begin; node < nodes.end; ++node) {
      Index edges = 0;
      for (const LabelRun& run : runs(node)) edges += run.end - run.begin;
      count_ += edges;
      most_ = std::max(most_, edges);
    }
  };
  count(group.tokens);
  for (const Interval& nodes : group.spans) count(nodes);
  groups_.push_back(std::move(group));
}

std::span<const EdgeList::Group> EdgeList::part(Index part, Index parts) const {
  const auto begin = [&](Index p) {
    return std::ranges::lower_bound(groups_, (count_ * p + parts - 1) / parts, {},
                                    &Group::edges_before);
  };
  return {begin(part), part + 1 == parts ? groups_.end() : begin(part + 1)};
}

}  // namespace weft::layers
