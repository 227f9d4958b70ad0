#include "layers/model/row_spread.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "layers/model/model_parts.h"

namespace weft::layers {
namespace {

using autograd::RowNumbers;

Sequences sequences_of(std::vector<RowLayout> layouts, bool causal) {
  std::vector<Index> lengths;
  for (const RowLayout& layout : layouts) lengths.push_back(layout.rows);
  Sequences rows = Sequences::self(Index(layouts.size()), std::ranges::max(lengths), causal);
  rows.key_lengths = std::make_shared<const std::vector<Index>>(std::move(lengths));
  rows.rows = std::make_shared<const std::vector<RowLayout>>(std::move(layouts));
  return rows;
}

/// Where the tokens of every sequence are among T tokens each and among the rows.
struct TokenPlaces {
  RowNumbers tokens, rows;
};

TokenPlaces places_of(const Sequences& rows, Index length) {
  auto tokens = std::make_shared<std::vector<Index>>(),
       places = std::make_shared<std::vector<Index>>();
  for (Index b = 0; b < rows.batch; ++b) {
    const std::vector<Index>& of_tokens = (*rows.rows)[std::size_t(b)].of_tokens;
    for (std::size_t t = 0; t < of_tokens.size(); ++t) {
      tokens->push_back(b * length + Index(t));
      places->push_back(b * rows.queries + of_tokens[t]);
    }
  }
  return {tokens, places};
}

/// Where each of these rows is among those that were read; both ascend.
RowNumbers found_in(const std::vector<Index>& read, const std::vector<Index>& wanted) {
  auto numbers = std::make_shared<std::vector<Index>>();
  for (const Index row : wanted)
    numbers->push_back(std::ranges::lower_bound(read, row) - read.begin());
  return numbers;
}

std::vector<Index> roots_of(const Sequences& rows) {
  std::vector<Index> roots;
  for (Index b = 0; b < rows.batch; ++b)
    roots.push_back(b * rows.queries + (*rows.rows)[std::size_t(b)].root);
  return roots;
}

}  // namespace

RowSpread::RowSpread(std::shared_ptr<const RowRule> rule, Index width)
    : rule_(std::move(rule)), width_(width) {
  if (rule_ && rule_->start_vectors() > 0)
    starts_.emplace(core::Shape{rule_->start_vectors(), width}, Init::normal(initial_deviation));
}

Sequences RowSpread::over(const core::Tokens& tokens, const core::Lengths& lengths,
                          bool causal) const {
  const Index batch = tokens.shape()[0], length = tokens.shape()[1];
  std::vector<RowLayout> layouts;
  for (Index b = 0; b < batch; ++b) {
    const Index real = lengths ? (*lengths)[std::size_t(b)] : length;
    layouts.push_back(
        rule_->layout(tokens.read().subspan(std::size_t(b * length), std::size_t(real))));
  }
  return sequences_of(std::move(layouts), causal);
}

Sequences RowSpread::over(const Sequences& tokens) const {
  std::vector<RowLayout> layouts;
  for (Index b = 0; b < tokens.batch; ++b) layouts.push_back(rule_->layout(tokens.real_keys(b)));
  return sequences_of(std::move(layouts), tokens.causal);
}

double RowSpread::rows_per_token(Index length) const {
  return rule_ ? double(rule_->layout(length).rows) / double(length) : 1;
}

Var RowSpread::spread(const Pass& pass, const Var& x, const Sequences& rows) const {
  const Index length = x.shape()[0] / rows.batch, all = rows.batch * rows.queries;
  const TokenPlaces places = places_of(rows, length);
  const bool padded = Index(places.tokens->size()) < x.shape()[0];
  const Var real = padded ? autograd::gather_rows(x, places.tokens) : x;
  const Var spread = autograd::scatter_rows(real, places.rows, all);
  if (!starts_) return spread;
  std::vector<core::Token> vectors;
  auto own = std::make_shared<std::vector<Index>>();
  for (Index b = 0; b < rows.batch; ++b)
    for (const RowLayout::Start& start : (*rows.rows)[std::size_t(b)].starts) {
      vectors.push_back(core::Token(start.vector));
      own->push_back(b * rows.queries + start.row);
    }
  const core::Tokens numbers({Index(vectors.size())}, vectors);
  return autograd::add(
      spread, autograd::scatter_rows(autograd::embedding(pass, numbers, *starts_), own, all));
}

RowNumbers RowSpread::read(const Sequences& rows, bool roots) const {
  const RowNumbers tokens = places_of(rows, rows.queries).rows;
  if (!roots) return tokens;
  auto all = std::make_shared<std::vector<Index>>();
  std::ranges::set_union(*tokens, roots_of(rows), std::back_inserter(*all));
  return all;
}

Var RowSpread::tokens(const Var& x, const Sequences& rows, Index length) const {
  const TokenPlaces places = places_of(rows, length);
  const auto count = Index(places.rows->size());
  const Var all = x.shape()[0] == count
                      ? x
                      : autograd::gather_rows(x, found_in(*read(rows, true), *places.rows));
  if (count == rows.batch * length) return all;
  return autograd::scatter_rows(all, places.tokens, rows.batch * length);
}

Var RowSpread::roots(const Var& x, const Sequences& rows) const {
  return autograd::gather_rows(x, found_in(*read(rows, true), roots_of(rows)));
}

void RowSpread::visit(Inventory& inventory) {
  if (starts_) inventory.add("global_tokens.weight", *starts_);
}

}  // namespace weft::layers
