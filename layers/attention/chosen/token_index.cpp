#include "layers/attention/chosen/token_index.h"

#include <algorithm>
#include <numeric>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// Queries that pass over the keys together.
constexpr Index queries_per_product = 16;

}  // namespace

std::vector<const Real*> IndexRows::queries(Index token) const {
  std::vector<const Real*> all;
  for (const Var& head : q) all.push_back(head.value().data() + token * head.shape()[1]);
  return all;
}

std::span<const std::int32_t> RowChoice::of(Index b, Index query) const {
  const std::span<const std::int32_t> all(numbers.data() + (b * length + query) * most,
                                          std::size_t(most));
  return all.first(std::size_t(std::ranges::find(all, -1) - all.begin()));
}

/// scores: those of the tile
void TokenIndex::add_tile(const PackedRows& keys, const std::vector<const Real*>& q, const Real* w,
                          Index tile, Real* scores) const {
  Real products[PackedRows::tile_rows];
  std::fill_n(scores, PackedRows::tile_rows, Real(0));
  for (Index i = 0; i < heads; ++i) {
    keys.multiply_tile(q[std::size_t(i)], tile, products);
    core::simd().relu(products, products, PackedRows::tile_rows);
    core::simd().axpy(w[i] * scale, products, scores, PackedRows::tile_rows);
  }
}

void TokenIndex::score(const PackedRows& keys, const std::vector<const Real*>& q, const Real* w,
                       Index count, std::vector<Real>& scores) const {
  scores.resize(std::size_t(PackedRows::tiles(count) * PackedRows::tile_rows));
  for (Index tile = 0; tile < PackedRows::tiles(count); ++tile)
    add_tile(keys, q, w, tile, scores.data() + tile * PackedRows::tile_rows);
  scores.resize(std::size_t(count));
}

RowChoice TokenIndex::choose(const IndexRows& rows, Index batch, Index selected,
                             const std::function<Index(Index, Index)>& visible) const {
  const Tensor &k = rows.k.value(), &w = rows.w.value();
  const Index length = w.shape()[0] / batch, of_keys = k.shape()[0] / batch;
  RowChoice choice{.most = std::min(selected, std::max<Index>(1, of_keys)), .length = length};
  choice.numbers.assign(std::size_t(batch * length * choice.most), -1);
  std::vector<PackedRows> keys(static_cast<std::size_t>(batch), PackedRows(width));
  core::parallel_for(batch, 1, [&](Index b, Index) {
    for (Index j = 0; j < of_keys; ++j)
      keys[std::size_t(b)].append(k.data() + (b * of_keys + j) * width);
  });
  const Index pieces = (length + queries_per_product - 1) / queries_per_product;
  core::parallel_for(batch * pieces, 1, [&](Index task, Index) {
    const Index b = task / pieces, first = task % pieces * queries_per_product;
    const Index count = std::min(queries_per_product, length - first);
    Index most = 0, flops = 0;
    for (Index r = 0; r < count; ++r) {
      most = std::max(most, visible(b, first + r));
      flops += this->flops(visible(b, first + r), choice.most);
    }
    const Index room = PackedRows::tiles(most) * PackedRows::tile_rows;
    std::vector<Real> scores(std::size_t(count * room));
    std::vector<std::vector<const Real*>> q;
    for (Index r = 0; r < count; ++r) q.push_back(rows.queries(b * length + first + r));
    for (Index tile = 0; flops > 0 && tile < PackedRows::tiles(most); ++tile)
      for (Index r = 0; r < count; ++r) {
        const Real* weights = w.data() + (b * length + first + r) * heads;
        if (tile * PackedRows::tile_rows < visible(b, first + r))
          add_tile(keys[std::size_t(b)], q[std::size_t(r)], weights, tile,
                   scores.data() + r * room + tile * PackedRows::tile_rows);
      }
    std::vector<std::int32_t> chosen;
    for (Index r = 0; r < count; ++r) {
      chosen.clear();
      append_best({scores.data() + r * room, std::size_t(visible(b, first + r))}, choice.most,
                  chosen);
      std::ranges::copy(chosen, choice.numbers.begin() + (b * length + first + r) * choice.most);
    }
    core::counters().flops.fetch_add(flops, std::memory_order_relaxed);
  });
  return choice;
}

}  // namespace weft::layers
