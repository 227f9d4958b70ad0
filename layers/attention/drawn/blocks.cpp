#include "layers/attention/drawn/blocks.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"

namespace weft::layers {
namespace {

/// `count` of the candidates, or all when there are fewer, in ascending order.
std::vector<Index> draw(std::vector<Index> candidates, Index count, const core::Rng& rng) {
  const auto drawn = std::min(std::size_t(count), candidates.size());
  for (std::size_t i = 0; i < drawn; ++i)
    std::swap(candidates[i],
              candidates[i + std::size_t(rng.below(i, Index(candidates.size() - i)))]);
  candidates.resize(drawn);
  std::ranges::sort(candidates);
  return candidates;
}

/// The key blocks in [0, limit) of which no query of the block reads anything.
std::vector<Index> uncovered(const Pattern& others, Index query_block, Index block, Index length,
                             Index limit) {
  std::vector<Interval> read;
  const Index last = std::min((query_block + 1) * block, length);
  for (Index query = query_block * block; query < last; ++query)
    for (const auto& atom : others)
      if (atom->modulus() == 1) atom->readable(query, length, read);
  normalise(read, length);
  std::vector<Index> blocks;
  for (Index key = 0; key < limit; ++key)
    if (std::ranges::none_of(read, [&](const Interval& s) {
          return s.begin < (key + 1) * block && s.end > key * block;
        }))
      blocks.push_back(key);
  return blocks;
}

Tensor draw_table(const AttentionSite& site, const DrawnBlocks::Settings& settings,
                  const Pattern& others) {
  const Index blocks = (site.length + settings.block - 1) / settings.block;
  Tensor table({site.heads, blocks, settings.count}, Real(-1));
  const core::Rng rng = core::Rng(std::uint64_t(settings.seed)).fold("random blocks");
  for (Index query = 0; query < blocks; ++query) {
    const auto candidates =
        uncovered(others, query, settings.block, site.length, site.causal ? query : blocks);
    for (Index head = 0; head < site.heads; ++head) {
      const auto own = rng.fold(std::uint64_t(site.layer)).fold(std::uint64_t(head));
      std::ranges::copy(draw(candidates, settings.count, own.fold(std::uint64_t(query))),
                        table.write().data() + (head * blocks + query) * settings.count);
    }
  }
  return table;
}

}  // namespace

void DrawnBlocks::Settings::fields(core::Fields& field, std::string_view key,
                                   const AttentionSite& typical, Index covered) {
  field.integer("block", block, "tokens of a block", core::at_least(1));
  field.integer(key, count, "random blocks that a block of tokens reads", core::at_least(0));
  field.integer("seed", seed, "seed of the random blocks", core::between(0, 9.2e18));
  const Index blocks = (typical.length + block - 1) / block;
  const Index rest = std::max<Index>(0, blocks - covered);
  if (count > rest) {
    field.problem(
        key, core::message_of(count, " random blocks of ", block, " tokens, but of the ", blocks,
                              " of a sequence of ", typical.length, " only ", rest,
                              " are left to draw from; take fewer or smaller ones"));
    count = rest;  // so that other checks need not draw too many
  }
}

DrawnBlocks::DrawnBlocks(const AttentionSite& site, const Settings& settings, const Pattern& others)
    : settings_(settings),
      table_(draw_table(site, settings, others), [](std::span<Real>, std::span<const Real>) {}) {}

Pattern DrawnBlocks::of_head(Index head) const {
  const Index blocks = table().shape()[1];
  std::vector<std::vector<Index>> listed(static_cast<std::size_t>(blocks));
  const Real* row = table().data() + head * blocks * settings_.count;
  for (auto& list : listed)
    for (Index i = 0; i < settings_.count; ++i, ++row)
      if (*row >= 0) list.push_back(Index(*row));
  return blocks_pattern(settings_.block, std::move(listed));
}

}  // namespace weft::layers
