#include "layers/parts/experts/expert_choice.h"

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace weft::layers {
namespace {

/// Rows of one product: about a quarter of what an expert takes on average, so that filler stays
/// below an eighth and a product still runs at full speed. It follows from shapes only.
Index panel_rows(Index rows, Index choices, Index experts) {
  const Index average = std::max<Index>(1, rows * choices / experts);
  return std::clamp<Index>(Index(std::bit_floor(std::size_t(average))) / 4, 8, 128);
}

/// The largest of P in turn, of equals the first.
void take_largest(std::span<const Real> p, std::span<std::int32_t> to) {
  for (std::size_t c = 0; c < to.size(); ++c) {
    std::int32_t best = -1;
    for (std::size_t e = 0; e < p.size(); ++e) {
      if (std::find(to.begin(), to.begin() + std::ptrdiff_t(c), std::int32_t(e)) !=
          to.begin() + std::ptrdiff_t(c))
        continue;
      if (best < 0 || p[e] > p[std::size_t(best)]) best = std::int32_t(e);
    }
    to[c] = best;
  }
}

/// Whether a row keeps its second choice.
bool keeps_second(std::span<const Real> p, std::span<const std::int32_t> chosen,
                  const ChoiceRule& rule, double draw) {
  double gate = double(p[std::size_t(chosen[1])]), sum = rule.gate.eps;
  for (const std::int32_t e : chosen) sum += double(p[std::size_t(e)]);
  if (rule.gate.normalise) gate /= sum;
  return draw < gate / rule.second_threshold;
}

/// Marks with 0 what an expert takes.
void place_choices(const std::vector<Index>& order, Index capacity,
                   const std::vector<char>& given_up, ExpertChoice& choice) {
  for (Index c = 0; c < choice.choices; ++c)
    for (const Index row : order) {
      const std::size_t at = std::size_t(row * choice.choices + c);
      if (given_up[at]) continue;
      Index& taken = choice.taken[std::size_t(choice.expert[at])];
      if (capacity > 0 && taken == capacity) {
        ++choice.lost;
        continue;
      }
      ++taken;
      choice.place[at] = 0;
    }
}

/// Gives every taken choice its place: by expert, then in the order of rows, so that no later row
/// moves an earlier one.
void sort_places(const std::vector<Index>& order, ExpertChoice& choice) {
  choice.begin.assign(1, 0);
  for (const Index taken : choice.taken)
    choice.begin.push_back(choice.begin.back() +
                           (taken + choice.panel - 1) / choice.panel * choice.panel);
  choice.source.assign(std::size_t(choice.places()), -1);
  std::vector<Index> next(choice.begin.begin(), choice.begin.end() - 1);
  for (const Index row : order)
    for (Index at = row * choice.choices; at < (row + 1) * choice.choices; ++at) {
      Index& place = choice.place[std::size_t(at)];
      if (place < 0) continue;
      place = next[std::size_t(choice.expert[std::size_t(at)])]++;
      choice.source[std::size_t(place)] = at;
    }
}

}  // namespace

Index ExpertChoice::expert_of_panel(Index number) const {
  return std::ranges::upper_bound(begin, number * panel) - begin.begin() - 1;
}

std::vector<Index> rows_in_order(const Sequences& sequences) {
  std::vector<Index> rows;
  const auto& lengths = sequences.key_lengths;
  for (Index t = 0; t < sequences.queries; ++t)
    for (Index b = 0; b < sequences.batch; ++b)
      if (!lengths || t < (*lengths)[std::size_t(b)]) rows.push_back(b * sequences.queries + t);
  return rows;
}

ExpertChoice choose_experts(const Tensor& probabilities, const ChoiceRule& rule,
                            const std::vector<Index>& order, std::span<const double> draws) {
  const Index rows = probabilities.shape().rows(), experts = probabilities.shape().back();
  core::require(rule.choices >= 1 && rule.choices <= experts, "experts: ", rule.choices,
                " choices among ", experts, " experts");
  const std::size_t slots = std::size_t(rows * rule.choices);
  ExpertChoice choice{.choices = rule.choices,
                      .panel = panel_rows(rows, rule.choices, experts),
                      .expert = std::vector<std::int32_t>(slots, -1),
                      .place = std::vector<Index>(slots, -1),
                      .source = {},
                      .begin = {},
                      .taken = std::vector<Index>(std::size_t(experts), 0),
                      .first = std::vector<Index>(std::size_t(experts), 0),
                      .rows = Index(order.size())};
  std::vector<char> given_up(slots, 0);
  for (const Index row : order) {
    const auto p = probabilities.read().subspan(std::size_t(row * experts), std::size_t(experts));
    const auto own = std::span(choice.expert)
                         .subspan(std::size_t(row * rule.choices), std::size_t(rule.choices));
    take_largest(p, own);
    ++choice.first[std::size_t(own[0])];
    if (rule.choices > 1 && rule.second_threshold > 0 && !draws.empty())
      given_up[std::size_t(row * rule.choices + 1)] =
          !keeps_second(p, own, rule, draws[std::size_t(row)]);
  }
  place_choices(order, rule.capacity, given_up, choice);
  sort_places(order, choice);
  return choice;
}

}  // namespace weft::layers
