#include "layers/attention/pattern/atom.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace weft::layers {
namespace {

struct Full final : Atom {
  void readable(Index, Index places, std::vector<Interval>& out) const override {
    out.push_back({0, places});
  }
  Index last_reader(Index) const override { return never; }
};

struct Dilated final : Atom {
  Dilated(Index l, Index r, Index d) : left(l), right(r), dilation(d) {}
  Index modulus() const override { return dilation; }
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    const Index place = query / dilation;
    out.push_back({place - left, place + right + 1});
  }
  Index last_reader(Index key) const override {
    return left >= never / dilation ? never : key + left * dilation;
  }
  LeftReach left_reach() const override {
    return {left >= never / dilation ? LeftReach::everything : left * dilation, 1};
  }
  Index left, right, dilation;
};

struct BlockLocal final : Atom {
  BlockLocal(Index b, Index before, Index after) : block(b), back(before), ahead(after) {}
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    const Index own = query / block;
    out.push_back({(own - back) * block, (own + ahead + 1) * block});
  }
  Index last_reader(Index key) const override { return (key / block + back + 1) * block - 1; }
  LeftReach left_reach() const override { return {back * block, block}; }
  Index block, back, ahead;
};

/// Runs of consecutive numbers in a sorted list.
std::vector<Interval> runs_of(const std::vector<Index>& sorted) {
  std::vector<Interval> runs;
  for (const Index p : sorted) {
    if (!runs.empty() && runs.back().end == p)
      ++runs.back().end;
    else
      runs.push_back({p, p + 1});
  }
  return runs;
}

struct Columns final : Atom {
  explicit Columns(const std::vector<Index>& sorted) : runs(runs_of(sorted)), positions(sorted) {}
  void readable(Index, Index, std::vector<Interval>& out) const override {
    out.insert(out.end(), runs.begin(), runs.end());
  }
  Index last_reader(Index key) const override {
    return std::ranges::binary_search(positions, key) ? never : -1;
  }
  std::vector<Interval> runs;
  std::vector<Index> positions;
};

struct Rows final : Atom {
  explicit Rows(const std::vector<Index>& sorted) : positions(sorted) {}
  void readable(Index query, Index places, std::vector<Interval>& out) const override {
    if (reads_all(query)) out.push_back({0, places});
  }
  bool reads_all(Index query) const override {
    return std::ranges::binary_search(positions, query);
  }
  Index last_reader(Index) const override { return positions.empty() ? -1 : positions.back(); }
  std::vector<Index> positions;
};

struct Blocks final : Atom {
  Blocks(Index b, std::vector<std::vector<Index>> l) : block(b), listed(std::move(l)) {}
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    const auto row = std::size_t(query / block);
    if (row >= listed.size()) return;
    for (const Index key_block : listed[row])
      out.push_back({key_block * block, (key_block + 1) * block});
  }
  Index last_reader(Index key) const override {
    for (std::size_t row = listed.size(); row-- > 0;)
      if (std::ranges::find(listed[row], key / block) != listed[row].end())
        return (Index(row) + 1) * block - 1;
    return -1;
  }
  Index block;
  std::vector<std::vector<Index>> listed;
};

struct PastOfBlock final : Atom {
  explicit PastOfBlock(Index b) : block(b) {}
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    out.push_back({query / block * block, query + 1});
  }
  Index last_reader(Index key) const override { return (key / block + 1) * block - 1; }
  Index block;
};

struct Summary final : Atom {
  Summary(Index l, Index c, Index s) : stride(l), count(c), skip(s) {}
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    for (Index end = stride - skip; end - count <= query; end += stride)
      out.push_back({end - count, std::min(end, query + 1)});
  }
  Index last_reader(Index key) const override {
    const Index column = key % stride;
    return column >= stride - skip - count && column < stride - skip ? never : -1;
  }
  Index stride, count, skip;
};

struct WithoutRows final : Atom {
  WithoutRows(std::shared_ptr<const Atom> a, std::vector<Index> q)
      : atom(std::move(a)), queries(std::move(q)) {}
  Index modulus() const override { return atom->modulus(); }
  void readable(Index query, Index places, std::vector<Interval>& out) const override {
    if (!std::ranges::binary_search(queries, query)) atom->readable(query, places, out);
  }
  bool reads_all(Index query) const override {
    return atom->reads_all(query) && !std::ranges::binary_search(queries, query);
  }
  Index last_reader(Index key) const override { return atom->last_reader(key); }
  std::shared_ptr<const Atom> atom;
  std::vector<Index> queries;
};

template <class A, class... Arguments>
Pattern one(Arguments&&... arguments) {
  return {std::make_shared<const A>(std::forward<Arguments>(arguments)...)};
}

}  // namespace

bool Atom::reads(Index i, Index j, Index keys) const {
  const Index m = modulus();
  if (i % m != j % m) return false;
  std::vector<Interval> intervals;
  readable(i, (keys - i % m + m - 1) / m, intervals);
  return std::ranges::any_of(intervals,
                             [&](const Interval& s) { return s.begin <= j / m && j / m < s.end; });
}

Pattern full_pattern() { return one<Full>(); }

Pattern dilated_pattern(Index left, Index right, Index dilation) {
  core::require(left >= 0 && right >= 0 && dilation >= 1,
                "pattern: dilated needs left, right >= 0 ", "and dilation >= 1, got ", left, ", ",
                right, ", ", dilation);
  return one<Dilated>(left, right, dilation);
}

Pattern band_pattern(Index left, Index right) { return dilated_pattern(left, right, 1); }

Pattern block_local_pattern(Index block, Index back, Index ahead) {
  core::require(block >= 1 && back >= 0 && ahead >= 0,
                "pattern: block_local needs a block of 1 or more and neighbours of 0 or more, got ",
                block, ", ", back, " and ", ahead);
  return one<BlockLocal>(block, back, ahead);
}

Pattern global_pattern(std::vector<Index> positions, GlobalMode mode) {
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  core::require(positions.empty() || positions.front() >= 0,
                "pattern: global positions must not be negative");
  Pattern pattern;
  if (mode != GlobalMode::rows) pattern = one<Columns>(positions);
  if (mode != GlobalMode::columns) pattern = united(pattern, one<Rows>(positions));
  return pattern;
}

Pattern blocks_pattern(Index block, std::vector<std::vector<Index>> listed) {
  core::require(block >= 1, "pattern: blocks need a block of 1 or more, got ", block);
  return one<Blocks>(block, std::move(listed));
}

Pattern strided_pattern(Index stride) {
  core::require(stride >= 1, "pattern: strided needs a stride of 1 or more, got ", stride);
  return united(band_pattern(stride - 1, 0), one<Dilated>(never, Index(0), stride));
}

Pattern past_of_block_pattern(Index block) {
  core::require(block >= 1, "pattern: a block of 1 or more is needed, got ", block);
  return one<PastOfBlock>(block);
}

Pattern summary_pattern(Index stride, Index count, Index skip) {
  core::require(stride >= 1 && count >= 0 && skip >= 0 && skip + count <= stride,
                "pattern: summary columns need 0 <= skip + count <= stride, got ", skip, " + ",
                count, " and ", stride);
  return one<Summary>(stride, count, skip);
}

Pattern fixed_pattern(Index stride, Index count) {
  return united(past_of_block_pattern(stride), summary_pattern(stride, count));
}

Pattern without_rows(const Pattern& pattern, std::vector<Index> queries) {
  std::ranges::sort(queries);
  Pattern rest;
  for (const auto& atom : pattern)
    rest.push_back(std::make_shared<const WithoutRows>(atom, queries));
  return rest;
}

LeftReach left_reach(const std::vector<Pattern>& patterns) {
  LeftReach all;
  for (const Pattern& pattern : patterns)
    for (const auto& atom : pattern) {
      const LeftReach own = atom->left_reach();
      all = {std::max(all.tokens, own.tokens), std::lcm(all.period, own.period)};
    }
  return all;
}

Pattern united(Pattern a, const Pattern& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void normalise(std::vector<Interval>& intervals, Index limit) {
  for (Interval& s : intervals) s = {std::max<Index>(s.begin, 0), std::min(s.end, limit)};
  std::erase_if(intervals, [](const Interval& s) { return s.begin >= s.end; });
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    if (intervals[i].begin <= intervals[kept].end)
      intervals[kept].end = std::max(intervals[kept].end, intervals[i].end);
    else
      intervals[++kept] = intervals[i];
  }
  if (!intervals.empty()) intervals.resize(kept + 1);
}

}  // namespace weft::layers
