#include "layers/attention/chosen/position_branch.h"

#include <algorithm>

namespace weft::layers {
namespace {

class Stair final : public Atom {
 public:
  explicit Stair(std::function<Index(Index)> closed) : closed_(std::move(closed)) {}
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    out.push_back({0, closed_(query)});
  }
  Index last_reader(Index) const override { return never; }

 private:
  std::function<Index(Index)> closed_;
};

class WindowBehind final : public Atom {
 public:
  WindowBehind(Index first, Index window) : first_(first), window_(window) {}
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    out.push_back({first_ + std::max<Index>(0, query - window_ + 1), first_ + query + 1});
  }
  Index last_reader(Index key) const override { return key - first_ + window_ - 1; }

 private:
  Index first_, window_;
};

}  // namespace

Pattern stair_pattern(std::function<Index(Index query)> closed) {
  return {std::make_shared<const Stair>(std::move(closed))};
}

Pattern window_behind(Index first, Index window) {
  return {std::make_shared<const WindowBehind>(first, window)};
}

std::shared_ptr<const PatternPlan> PositionBranch::plan(Index tokens, Index real) const {
  const auto found = std::ranges::find_if(cache_, [&](const Planned& planned) {
    return planned.tokens == tokens && planned.real == real;
  });
  if (found != cache_.end()) return found->plan;
  constexpr std::size_t most = 64;
  if (cache_.size() == most) cache_.erase(cache_.begin());
  cache_.push_back({tokens, real,
                    std::make_shared<const PatternPlan>(
                        plan_pattern(pattern_of_(tokens), real, keys_of_(tokens), false))});
  return cache_.back().plan;
}

PatternProblem PositionBranch::problem(const Sequences& tokens) const {
  const Index length = tokens.queries;
  PatternProblem problem{.sequences = {tokens.batch, length, keys_of_(length), false},
                         .heads = form_.heads,
                         .head_width = form_.head_width,
                         .scale = form_.scale,
                         .plans = {},
                         .kv_heads = form_.kv_heads,
                         .precision = form_.precision};
  if (!tokens.key_lengths) problem.plans = {plan(length, length)};
  for (Index b = 0; tokens.key_lengths && b < tokens.batch; ++b)
    problem.plans.insert(problem.plans.end(), std::size_t(form_.heads),
                         plan(length, tokens.real_keys(b)));
  return problem;
}

}  // namespace weft::layers
