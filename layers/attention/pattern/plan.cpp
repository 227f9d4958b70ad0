#include "layers/attention/pattern/plan.h"

#include <algorithm>
#include <limits>
#include <set>

namespace weft::layers {
namespace {

/// Columns that come and go together as the rows of a block move on.
constexpr Index segment = 64;
/// Runs shorter than this are gathered with their neighbours into one panel.
constexpr Index short_run = 32;

class Planner {
 public:
  Planner(const Pattern& pattern, Index queries, Index keys, bool causal, const PlanHints& hints)
      : pattern_(pattern),
        causal_(causal),
        aligned_(hints.cut == PanelCut::aligned),
        labels_(hints.labels),
        breaks_(hints.breaks),
        shift_(hints.shift) {
    plan_.queries = queries;
    plan_.keys = keys;
    plan_.rows.push_back(0);
    if (labels_) plan_.label_rows.push_back(0);
  }

  PatternPlan build() {
    std::set<Index> moduli;
    for (const auto& atom : pattern_) moduli.insert(atom->modulus());
    between_moduli_ = moduli.size() - moduli.count(1) > 1;
    add_pass([&] { add_full_rows(); });
    for (const Index modulus : moduli) {
      const Index rows = rows_for(modulus);
      add_pass([&] {
        for (Index i = 0; i < std::min(modulus, plan_.queries); ++i) add_class(modulus, i, rows);
      });
    }
    if (aligned_) plan_.offsets = {-never, never};
    plan_.zeroed_beforehand =
        plan_.rounds.size() != 1 || Index(plan_.rows.size()) - 1 != plan_.queries;
    return std::move(plan_);
  }

 private:
  template <class Body>
  void add_pass(const Body& body) {
    const Index first = Index(plan_.blocks.size());
    body();
    const Index blocks = Index(plan_.blocks.size()) - first;
    if (blocks > 0) plan_.rounds.push_back({first, blocks});
  }

  /// Keys that a query may read at all: [0, reach).
  Index reach(Index query) const {
    return causal_ ? std::clamp<Index>(query + plan_.keys - plan_.queries + 1, 0, plan_.keys)
                   : plan_.keys;
  }

  bool reads_all(Index query) const {
    return std::ranges::any_of(pattern_,
                               [&](const auto& atom) { return atom->reads_all(query + shift_); });
  }

  /// Queries that read everything get blocks of their own, or their neighbours would pay for their
  /// columns.
  void add_full_rows() {
    for (Index q = 0; q < plan_.queries;) {
      Index count = 0;
      while (q + count < plan_.queries && count < PatternPlan::most_rows && reads_all(q + count))
        ++count;
      if (count == 0) {
        ++q;
        continue;
      }
      std::vector<std::vector<Interval>> rows;
      for (Index i = q; i < q + count; ++i) rows.push_back({{0, reach(i)}});
      add_block(q, 1, 0, rows);
      q += count;
    }
  }

  /// What a query reads in its class: places of its own modulus, less what earlier rounds score.
  std::vector<Interval> row_of(Index query, Index modulus) const {
    const Index r = (query + shift_) % modulus;
    const Index places = (plan_.keys - r + modulus - 1) / modulus;
    std::vector<Interval> row;
    for (const auto& atom : pattern_)
      if (atom->modulus() == modulus) atom->readable(query + shift_, places, row);
    normalise(row, std::max<Index>(0, (reach(query) - r + modulus - 1) / modulus));
    if (modulus == 1) return row;
    subtract_bands(query, modulus, row);
    if (!between_moduli_) return row;
    std::vector<Interval> left;
    for (const Interval& s : row)
      for (Index p = s.begin; p < s.end; ++p)
        if (!scored_before(query, p * modulus + r, modulus)) left.push_back({p, p + 1});
    normalise(left, places);
    return left;
  }

  /// Takes from places of a class what atoms of modulus 1 read already.
  void subtract_bands(Index query, Index modulus, std::vector<Interval>& row) const {
    const Index r = (query + shift_) % modulus;
    std::vector<Interval> near;
    for (const auto& atom : pattern_)
      if (atom->modulus() == 1) atom->readable(query + shift_, plan_.keys, near);
    normalise(near, plan_.keys);
    const auto place_from = [&](Index key) { return (key - r + modulus - 1) / modulus; };
    std::vector<Interval> left;
    for (Interval s : row) {
      for (const Interval& n : near) {
        const Interval taken{n.begin <= r ? 0 : place_from(n.begin), place_from(n.end)};
        if (taken.end <= s.begin || taken.begin >= s.end) continue;
        if (taken.begin > s.begin) left.push_back({s.begin, taken.begin});
        s.begin = taken.end;
      }
      if (s.begin < s.end) left.push_back(s);
    }
    row = std::move(left);
  }

  bool scored_before(Index query, Index key, Index modulus) const {
    return std::ranges::any_of(pattern_, [&](const auto& atom) {
      return atom->modulus() > 1 && atom->modulus() < modulus &&
             atom->reads(query + shift_, key, plan_.keys);
    });
  }

  /// Tall blocks where rows read much, so that their common columns outweigh the ragged ends.
  Index rows_for(Index modulus) const {
    if (aligned_) return PatternPlan::most_rows / 2;
    Index read = 0, sampled = 0;
    for (Index q = 0; q < plan_.queries; q += std::max<Index>(1, plan_.queries / 16), ++sampled)
      for (const Interval& s : row_of(q, modulus)) read += s.end - s.begin;
    return sampled > 0 && read / sampled >= 128 ? PatternPlan::most_rows
                                                : PatternPlan::most_rows / 2;
  }

  /// The queries first, first + modulus, ...
  void add_class(Index modulus, Index first, Index most) {
    std::vector<std::vector<Interval>> rows;
    const Index begin = first, offset = (first + shift_) % modulus;
    const auto flush = [&](Index next) {
      if (!rows.empty()) add_block(first, modulus, offset, rows);
      rows.clear();
      first = next;
    };
    for (Index q = begin; q < plan_.queries; q += modulus) {
      if (std::ranges::binary_search(breaks_, q)) flush(q);
      if (reads_all(q)) {
        flush(q + modulus);
        continue;
      }
      rows.push_back(row_of(q, modulus));
      if (Index(rows.size()) == most) flush(q + modulus);
    }
    flush(0);
  }

  /// Rows read places; place p is key p * step + offset.
  void add_block(Index first_query, Index step, Index offset,
                 const std::vector<std::vector<Interval>>& rows) {
    std::vector<Interval> runs;
    for (const auto& row : rows) runs.insert(runs.end(), row.begin(), row.end());
    if (aligned_)
      for (Interval& run : runs) run.begin -= run.begin % segment;
    normalise(runs, plan_.keys);
    std::vector<Index> column_of;  // of each run's first place
    Index columns = 0;
    for (const Interval& run : runs) {
      column_of.push_back(columns);
      columns += run.end - run.begin;
    }
    const PatternPlan::Block block{first_query,
                                   Index(rows.size()),
                                   step,
                                   Index(plan_.rows.size()) - 1,
                                   Index(plan_.panels.size()),
                                   0,
                                   columns};
    plan_.blocks.push_back(block);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      add_row(rows[r], runs, column_of);
      note_offsets(rows[r], first_query + Index(r) * step, step, offset);
      if (labels_) add_labels(rows[r], first_query + Index(r) * step, runs, column_of);
    }
    add_panels(rows, runs, column_of, step, offset);
    plan_.blocks.back().panels = Index(plan_.panels.size()) - block.first_panel;
    for (std::size_t p = std::size_t(block.first_panel); p < plan_.panels.size(); ++p)
      plan_.area += plan_.panels[p].rows * plan_.panels[p].columns;
  }

  void note_offsets(const std::vector<Interval>& row, Index query, Index step, Index offset) {
    if (row.empty()) return;
    plan_.offsets = {std::min(plan_.offsets.begin, row.front().begin * step + offset - query),
                     std::max(plan_.offsets.end, (row.back().end - 1) * step + offset - query + 1)};
  }

  /// Where the columns of a place begin.
  static Index column(Index place, const std::vector<Interval>& runs,
                      const std::vector<Index>& column_of) {
    const auto run =
        std::size_t(std::ranges::upper_bound(runs, place, {}, &Interval::begin) - runs.begin()) - 1;
    return column_of[run] + place - runs[run].begin;
  }

  void add_row(const std::vector<Interval>& row, const std::vector<Interval>& runs,
               const std::vector<Index>& column_of) {
    std::vector<Interval> ranges;
    for (const Interval& s : row) {
      const Index first = column(s.begin, runs, column_of);
      ranges.push_back({first, first + s.end - s.begin});
      plan_.pairs += s.end - s.begin;
    }
    normalise(ranges, std::numeric_limits<Index>::max());
    plan_.ranges.insert(plan_.ranges.end(), ranges.begin(), ranges.end());
    plan_.rows.push_back(Index(plan_.ranges.size()));
  }

  /// The labels of what a row reads, in columns, unless they are all the same.
  void add_labels(const std::vector<Interval>& row, Index query, const std::vector<Interval>& runs,
                  const std::vector<Index>& column_of) {
    named_.clear();
    labels_->of(query, named_);
    const std::size_t before = plan_.label_runs.size();
    std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = 0;
    auto s = row.begin();
    for (const LabelRun& run : named_) {
      while (s != row.end() && s->end <= run.begin) ++s;
      for (auto at = s; at != row.end() && at->begin < run.end; ++at) {
        const Index begin = std::max(at->begin, run.begin), end = std::min(at->end, run.end);
        const std::int32_t first = run.first + run.step * std::int32_t(begin - run.begin);
        const std::int32_t last = first + run.step * std::int32_t(end - begin - 1);
        const Index from = column(begin, runs, column_of);
        plan_.label_runs.push_back({from, from + end - begin, first, run.step});
        least = std::min({least, first, last});
        most = std::max({most, first, last});
      }
    }
    if (least >= most) plan_.label_runs.resize(before);
    plan_.label_rows.push_back(Index(plan_.label_runs.size()));
    if (least >= most) return;
    Interval& all = plan_.blocks.back().labels;
    all = all.begin == all.end
              ? Interval{least, most + 1}
              : Interval{std::min<Index>(all.begin, least), std::max<Index>(all.end, most + 1)};
  }

  using Rows = std::vector<std::vector<Interval>>;

  /// The rows that read any place in [begin, end): from the first such row to the last.
  static Interval readers(const Rows& rows, Index begin, Index end) {
    const auto reads = [&](const std::vector<Interval>& row) {
      return std::ranges::any_of(row,
                                 [&](const Interval& s) { return s.begin < end && s.end > begin; });
    };
    Index first = 0, last = Index(rows.size());
    while (first < last && !reads(rows[std::size_t(first)])) ++first;
    while (last > first && !reads(rows[std::size_t(last) - 1])) --last;
    return {first, last};
  }

  void add_panels(const Rows& rows, const std::vector<Interval>& runs,
                  const std::vector<Index>& column_of, Index step, Index offset) {
    bool gathering = false;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      if (runs[k].end - runs[k].begin < short_run && runs.size() > 1) {
        gather(runs[k], column_of[k], step, offset, Index(rows.size()), gathering);
        gathering = true;
        continue;
      }
      gathering = false;
      cut_run(rows, runs[k], column_of[k], step, offset);
    }
  }

  /// Panels of one run: stretches of `segment` columns with the same readers, side by side.
  void cut_run(const Rows& rows, const Interval& run, Index column, Index step, Index offset) {
    Index open = 0;  // columns of the panel that still grows
    for (Index at = run.begin; at < run.end; at += segment) {
      const Index columns = std::min(segment, run.end - at);
      Interval own = readers(rows, at, at + columns);
      if (aligned_) {
        if (own.begin == own.end) continue;
        own = {0, Index(rows.size())};
        open = 0;
      }
      PatternPlan::Panel* last = open > 0 ? &plan_.panels.back() : nullptr;
      if (last && open + columns <= PatternPlan::key_tile && last->first_row == own.begin &&
          last->rows == own.end - own.begin) {
        last->columns += columns;
        open += columns;
        continue;
      }
      plan_.panels.push_back({column + at - run.begin, columns, own.begin, own.end - own.begin,
                              at * step + offset, step});
      open = columns;
    }
  }

  void gather(const Interval& run, Index column, Index step, Index offset, Index rows, bool open) {
    for (Index p = run.begin; p < run.end; ++p, ++column, open = true) {
      if (!open || plan_.panels.back().columns == PatternPlan::key_tile)
        plan_.panels.push_back({column, 0, 0, rows, 0, 0, Index(plan_.gathered.size())});
      plan_.gathered.push_back(std::int32_t(p * step + offset));
      ++plan_.panels.back().columns;
    }
  }

  const Pattern& pattern_;
  bool causal_, aligned_;
  const KeyLabels* labels_;
  const std::vector<Index>& breaks_;
  Index shift_;
  std::vector<LabelRun> named_;  ///< those of one query
  bool between_moduli_ = false;  ///< classes of several moduli above 1 may name the same pair
  PatternPlan plan_;
};

}  // namespace

PatternPlan plan_pattern(const Pattern& pattern, Index queries, Index keys, bool causal,
                         const PlanHints& hints) {
  return Planner(pattern, queries, keys, causal, hints).build();
}

}  // namespace weft::layers
