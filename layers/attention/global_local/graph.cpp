#include "layers/attention/global_local/graph.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {
namespace {

void append(std::vector<Interval>& runs, Index row) {
  if (!runs.empty() && runs.back().end == row)
    ++runs.back().end;
  else
    runs.push_back({row, row + 1});
}

/// Labels by distance from `row`, of the rows [begin, end).
void label_offsets(Index row, Interval rows, Index clip, std::int32_t base,
                   std::vector<LabelRun>& out) {
  const auto c = std::int32_t(clip);
  const LabelRun all[] = {{rows.begin, row - clip, base + 2 * c, 0},
                          {row - clip, row, base + 2 * c, -1},
                          {row, row + 1, base, 0},
                          {row + 1, row + clip + 1, base + 1, 1},
                          {row + clip + 1, rows.end, base + c, 0}};
  for (const LabelRun& run : all) {
    const Index begin = std::max(run.begin, rows.begin), end = std::min(run.end, rows.end);
    if (begin < end)
      out.push_back({begin, end, run.first + run.step * std::int32_t(begin - run.begin), run.step});
  }
}

/// One label inside some runs and another between them, of the rows [begin, end).
void label_members(const std::vector<Interval>& members, Interval rows, std::int32_t inside,
                   std::int32_t outside, std::vector<LabelRun>& out) {
  Index done = rows.begin;
  for (const Interval& run : members) {
    if (run.begin > done) out.push_back({done, run.begin, outside, 0});
    out.push_back({run.begin, run.end, inside, 0});
    done = run.end;
  }
  if (done < rows.end) out.push_back({done, rows.end, outside, 0});
}

/// How many tokens of a question are global ones: theirs are the rows after the first.
Index question_of(const RowLayout& layout) {
  Index tokens = 0;
  while (tokens < layout.tokens() && layout.of_tokens[std::size_t(tokens)] == 1 + tokens) ++tokens;
  return tokens;
}

}  // namespace

GlobalLocalStructure GlobalLocalStructure::of(const RowLayout& layout) {
  const Index sentences = Index(layout.sentence_ends.size());
  const Index asked = question_of(layout), first = 1 + asked;
  GlobalLocalStructure structure{first + sentences, layout.tokens() - asked, {}};
  core::require(structure.rows() == layout.rows, "global-local attention: ", layout.rows,
                " rows for ", layout.tokens(), " tokens in ", sentences, " sentences");
  for (Index s = 0; s < sentences; ++s)
    structure.sentence.resize(std::size_t(layout.sentence_ends[std::size_t(s)]), first + s);
  structure.sentence.resize(std::size_t(structure.tokens), -1);
  return structure;
}

GlobalLocalGraph::GlobalLocalGraph(GlobalLocalStructure structure, const GlobalLocalRules& rules,
                                   Pattern local, RowSide side)
    : structure_(std::move(structure)),
      rules_(rules),
      local_(std::move(local)),
      side_(side),
      own_(std::size_t(structure_.globals)) {
  for (const auto& atom : local_)
    core::require(atom->modulus() == 1, "global-local attention: tokens cannot read with gaps");
  for (Index row = 0; row < structure_.rows(); ++row) {
    Members& members = members_[example_of(row)];
    append(is_global(row) ? members.globals : members.tokens, row);
  }
  for (Index t = 0; t < Index(structure_.sentence.size()); ++t)
    if (const Index global = structure_.sentence[std::size_t(t)]; global >= 0)
      append(own_[std::size_t(global)], structure_.globals + t);
}

void GlobalLocalGraph::readable(Index query, Index, std::vector<Interval>& out) const {
  const Index example = example_of(query), globals = structure_.globals;
  if (example == 0 || (side_ == RowSide::tokens && is_global(query)) ||
      (side_ == RowSide::globals && !is_global(query)))
    return;
  const Members& members = members_.at(example);
  const auto within = [&](const Runs& runs, const Interval& some) {
    for (const Interval& run : runs) {
      const Interval both{std::max(run.begin, some.begin), std::min(run.end, some.end)};
      if (both.begin < both.end) out.push_back(both);
    }
  };
  if (is_global(query)) {
    out.insert(out.end(), members.globals.begin(), members.globals.end());
    if (rules_.hard_g2l)
      for (const Interval& run : own_[std::size_t(query)]) within(members.tokens, run);
    else
      out.insert(out.end(), members.tokens.begin(), members.tokens.end());
    return;
  }
  const Index token = query - globals;
  std::vector<Interval> near;
  for (const auto& atom : local_) atom->readable(token, structure_.tokens, near);
  normalise(near, structure_.tokens);
  for (const Interval& s : near) within(members.tokens, {s.begin + globals, s.end + globals});
  if (!rules_.hard_l2g) {
    out.insert(out.end(), members.globals.begin(), members.globals.end());
  } else if (globals > 0) {
    const Index own = structure_.sentence[std::size_t(token)];
    if (own >= 0) within(members.globals, {own, own + 1});
  }
}

void GlobalLocalGraph::label_globals(Index query, std::vector<LabelRun>& out) const {
  const auto base = std::int32_t(side_ == RowSide::both ? rules_.labels() : 0);
  const auto clip = std::int32_t(rules_.clip);
  const std::vector<Index>& context = structure_.context;
  std::vector<LabelRun> by_offset;
  label_offsets(query, {0, structure_.globals}, rules_.clip, base, by_offset);
  if (context.empty()) {
    out.insert(out.end(), by_offset.begin(), by_offset.end());
  } else {
    for (const LabelRun& run : by_offset)
      for (Index v = run.begin; v < run.end; ++v) {
        const bool same = context[std::size_t(v)] == context[std::size_t(query)];
        const std::int32_t label = run.first + run.step * std::int32_t(v - run.begin);
        out.push_back({v, v + 1, same ? label : base + 2 * clip + 3, 0});
      }
  }
  label_members(own_[std::size_t(query)], {structure_.globals, structure_.rows()},
                base + 2 * clip + 2, base + 2 * clip + 1, out);
}

void GlobalLocalGraph::of(Index query, std::vector<LabelRun>& out) const {
  if (is_global(query)) return label_globals(query, out);
  const Index globals = structure_.globals;
  const auto clip = std::int32_t(rules_.clip);
  Runs own;
  if (globals > 0)
    if (const Index global = structure_.sentence[std::size_t(query - globals)]; global >= 0)
      own.push_back({global, global + 1});
  label_members(own, {0, globals}, 2 * clip + 2, 2 * clip + 1, out);
  label_offsets(query, {globals, structure_.rows()}, rules_.clip, 0, out);
}

PatternPlan plan_global_local(const GlobalLocalStructure& structure, const GlobalLocalRules& rules,
                              const Pattern& local, RowSide side) {
  const auto graph = std::make_shared<const GlobalLocalGraph>(structure, rules, local, side);
  const PlanHints hints{.labels = graph.get(), .breaks = {structure.globals}};
  return plan_pattern({graph}, structure.rows(), structure.rows(), false, hints);
}

}  // namespace weft::layers
