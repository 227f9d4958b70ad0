#include <algorithm>
#include <numeric>

#include "core/arrays/gemm.h"
#include "core/arrays/matrix_vector.h"
#include "core/parallel.h"
#include "layers/parts/memory/product_memory.h"

namespace weft::layers {
namespace {

struct Scored {
  Real score;
  std::int32_t number;
};

/// The better score first, of equals the lower number.
bool precedes(const Scored& a, const Scored& b) {
  return a.score > b.score || (a.score == b.score && a.number < b.number);
}

/// The best `count` in order; the rest is dropped.
void keep_best(std::vector<Scored>& all, Index count) {
  const auto end = all.begin() + std::min<std::ptrdiff_t>(count, std::ptrdiff_t(all.size()));
  std::partial_sort(all.begin(), end, all.end(), precedes);
  all.erase(end, all.end());
}

/// One head of one row.  first, second: scores of both halves, [C] each
class HeadSearch {
 public:
  HeadSearch(Index side, Index top) : side_(side), top_(top) {}

  void run(const Real* first, const Real* second, std::int32_t* to) {
    rank(first, first_);
    rank(second, second_);
    pairs_.clear();
    for (std::size_t i = 0; i < first_.size(); ++i)
      for (std::size_t j = 0; j < second_.size() && Index((i + 1) * (j + 1)) <= top_; ++j)
        pairs_.push_back({first_[i].score + second_[j].score,
                          first_[i].number * std::int32_t(side_) + second_[j].number});
    keep_best(pairs_, top_);
    for (std::size_t i = 0; i < pairs_.size(); ++i) to[i] = pairs_[i].number;
  }

 private:
  void rank(const Real* scores, std::vector<Scored>& to) const {
    to.clear();
    for (Index c = 0; c < side_; ++c) to.push_back({scores[c], std::int32_t(c)});
    keep_best(to, top_);
  }

  Index side_, top_;
  std::vector<Scored> first_, second_, pairs_;
};

/// Scores of one half of one head for some rows; a single row as a product with a vector.
void score(const core::ConstMatrix& queries, const core::ConstMatrix& keys, bool alone, Real* to) {
  if (alone) {
    std::fill_n(to, keys.rows, Real(0));
    core::multiply_vector(keys, queries.data, to);
  } else {
    core::gemm(1, queries, core::transposed(keys), 0, {to, queries.rows, keys.rows, keys.rows});
  }
}

}  // namespace

Slots search_slots(const Tensor& queries, const MemoryTables& t) {
  const Index rows = queries.shape().rows(), H = t.heads(), C = t.side(), half = t.half();
  const Index columns = 2 * H * half;
  constexpr Index piece = 64;
  Slots slots(std::size_t(rows * H * t.top));
  core::parallel_for(rows, piece, [&](Index begin, Index end) {
    Tensor scores({2, end - begin, C});
    Real *first = scores.write().data(), *second = first + (end - begin) * C;
    HeadSearch search(C, t.top);
    for (Index h = 0; h < H; ++h) {
      for (Index side = 0; side < 2; ++side)
        score(
            {queries.data() + begin * columns + (2 * h + side) * half, end - begin, half, columns},
            {t.keys.data() + (2 * h + side) * C * half, C, half, half}, rows == 1,
            side == 0 ? first : second);
      for (Index r = begin; r < end; ++r)
        search.run(first + (r - begin) * C, second + (r - begin) * C,
                   slots.data() + (r * H + h) * t.top);
    }
  });
  return slots;
}

}  // namespace weft::layers
