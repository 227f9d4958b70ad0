#include "layers/attention/lists/rows.h"

#include <algorithm>
#include <cmath>

#include "core/simd/kernels.h"
#include "layers/attention/lists/encounters.h"

namespace weft::layers {
namespace {

using Filter = TokenList::Filter;

/// So low that its exponential is 0, and still finite.
constexpr Real unread = Real(-1e30);

}  // namespace

void gather(const core::ConstMatrix& rows, std::span<const std::int32_t> tokens, Real* panel,
            Index length) {
  const Index width = rows.cols;
  constexpr std::size_t ahead = 8;
  for (std::size_t s = 0; s < tokens.size(); ++s) {
    if (s + ahead < tokens.size()) __builtin_prefetch(rows.row(tokens[s + ahead]));
    std::copy_n(rows.row(tokens[s]), width, panel + Index(s) * width);
  }
  std::fill(panel + Index(tokens.size()) * width, panel + length * width, Real(0));
}

void scatter_add(const Real* panel, std::span<const std::int32_t> tokens,
                 const core::Matrix& rows) {
  const Index width = rows.cols;
  for (std::size_t s = 0; s < tokens.size(); ++s) {
    Real* row = rows.row(tokens[s]);
    core::simd().add(panel + Index(s) * width, row, row, width);
  }
}

void fill_zero(const core::Matrix& rows) {
  for (Index t = 0; t < rows.rows; ++t) std::fill_n(rows.row(t), rows.cols, Real(0));
}

RowFilter::RowFilter(const TokenList& list) : list_(list) {
  if (list.filter != Filter::none) positions_.assign(list.keys.begin(), list.keys.end());
}

RowFilter::Range RowFilter::admit(const TokenList::Block& block, Index slot, Real* scores) const {
  const Index first = list_.first[std::size_t(slot)], last = list_.last[std::size_t(slot)];
  Range range{first - block.key, std::max(first, last) - block.key,
              std::max<Index>(0, last - first)};
  if (range.count == 0) return range;
  const Index token = list_.queries[std::size_t(slot)], position = token + list_.offset;
  Real* row = scores + range.first;
  if (list_.filter == Filter::later || list_.filter == Filter::self_and_later) {
    const Index limit = position + (list_.filter == Filter::later ? 1 : 0);
    range.count =
        core::simd().keep_below(row, positions_.data() + first, Real(limit), unread, last - first);
  } else if (list_.filter == Filter::self) {
    for (Index s = first; s < last; ++s)
      if (list_.keys[std::size_t(s)] == position) {
        row[s - first] = unread;
        --range.count;
      }
  }
  if (list_.encounters && range.count > 0)
    for (Index s = first; s < last; ++s) {
      const Index times = list_.encounters->times(token, list_.keys[std::size_t(s)]);
      if (times > 1) row[s - first] -= Real(std::log(double(times)));
    }
  return range;
}

std::vector<std::int32_t> slots_per_token(const TokenList& list, Index tokens) {
  std::vector<std::int32_t> counts(std::size_t(tokens), 0);
  for (const std::int32_t token : list.queries) ++counts[std::size_t(token)];
  return counts;
}

}  // namespace weft::layers
