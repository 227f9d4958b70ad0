// Matrix products for AVX-512. Like kernels.cpp it includes nothing that could emit an inline
// function of a shared header with these instructions.
//
// c is made in tiles of 8 rows x 2 vectors, which stay in registers while up to `depth` terms are
// added to them: each term is a row of 2 vectors of b times 8 single numbers of a. b is rearranged
// so that the rows of such a panel follow each other, and stays in the first cache while it meets
// the rows of a, which is read where it is.
#include "core/simd/product.h"

#include <utility>
#include <xsimd/xsimd.hpp>

namespace weft::core::avx512 {
namespace {

using Batch = xsimd::batch<Real>;
using Register = Batch::register_type;
constexpr Index lanes = Index(Batch::size);
constexpr Index tile_rows = 8, panel = 2 * lanes;
constexpr Index depth = StridedProduct::depth, tall = StridedProduct::tall;
static_assert(panel <= StridedProduct::wide);

Index least(Index x, Index y) { return x < y ? x : y; }

Batch load(const Real* p) { return Batch::load_unaligned(p); }

/// Up to 8 x 2 sums: rows x (wide vectors) of c.  b: [k, panel] without gaps
struct Tile {
  Index k;
  const Real* a;
  Index a_row, a_col;
  const Real* b;
  Real* c;
  Index c_row;
  Real alpha, beta;
};

template <int rows, int wide, bool together>
void run_tile(const Tile& t) {
  Batch sums[rows][wide];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < wide; ++j) sums[i][j] = Batch(Real(0));
  const Real *a = t.a, *b = t.b;
  const Index a_row = together ? 1 : t.a_row, a_col = together ? t.a_col : 1;
  for (Index p = 0; p < t.k; ++p, a += a_col, b += panel) {
    Batch terms[wide];
#pragma GCC unroll 2
    for (int j = 0; j < wide; ++j) terms[j] = load(b + j * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Batch factor(a[i * a_row]);
#pragma GCC unroll 2
      for (int j = 0; j < wide; ++j) sums[i][j] = xsimd::fma(factor, terms[j], sums[i][j]);
    }
  }
  const Batch alpha(t.alpha), beta(t.beta);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < wide; ++j) {
      Real* to = t.c + i * t.c_row + j * lanes;
      const Batch sum = alpha * sums[i][j];
      (t.beta == 0 ? sum : xsimd::fma(beta, load(to), sum)).store_unaligned(to);
    }
}

using RunTile = void (*)(const Tile&);

/// By rows - 1, vectors - 1, and whether a's rows follow each other.
template <bool together, int... row>
constexpr void fill(RunTile (&to)[8][2], std::integer_sequence<int, row...>) {
  ((to[row][0] = run_tile<row + 1, 1, together>, to[row][1] = run_tile<row + 1, 2, together>), ...);
}

struct Tiles {
  constexpr Tiles() {
    fill<false>(run[0], std::make_integer_sequence<int, 8>());
    fill<true>(run[1], std::make_integer_sequence<int, 8>());
  }
  RunTile run[2][8][2] = {};
};
constexpr Tiles tiles;

template <class Masks, std::size_t... i>
Register zip(Register x, Register y, std::index_sequence<i...>) {
  return __builtin_shufflevector(x, y, Masks::at(i)...);
}

/// Indices that interleave the lower or the upper halves of two vectors.
template <Index from>
struct Interleave {
  static constexpr int at(std::size_t i) {
    return int(from + Index(i) / 2 + (i % 2 ? lanes : Index(0)));
  }
};

/// to[j][i] = from[i][j], [lanes, lanes]: each pass interleaves row i with row i + lanes / 2.
void transpose_square(const Real* from, Index from_row, Real* to, Index to_row) {
  constexpr auto all = std::make_index_sequence<std::size_t(lanes)>();
  Register x[lanes], y[lanes];
#pragma GCC unroll 16
  for (Index i = 0; i < lanes; ++i) x[i] = load(from + i * from_row).data;
#pragma GCC unroll 4
  for (Index pass = 1; pass < lanes; pass *= 2) {
#pragma GCC unroll 8
    for (Index i = 0; i < lanes / 2; ++i) {
      y[2 * i] = zip<Interleave<0>>(x[i], x[i + lanes / 2], all);
      y[2 * i + 1] = zip<Interleave<lanes / 2>>(x[i], x[i + lanes / 2], all);
    }
#pragma GCC unroll 16
    for (Index i = 0; i < lanes; ++i) x[i] = y[i];
  }
#pragma GCC unroll 16
  for (Index i = 0; i < lanes; ++i) Batch(x[i]).store_unaligned(to + i * to_row);
}

/// to[p][j] = b[p][j] for k rows and n columns, 0 from n on.  to: [k, panel]
void pack_panel(const Real* b, Index b_row, Index b_col, Index k, Index n, Real* to) {
  if (b_col == 1 && n == panel) {
    for (Index p = 0; p < k; ++p)
      for (Index j = 0; j < panel; j += lanes)
        load(b + p * b_row + j).store_unaligned(to + p * panel + j);
    return;
  }
  const Index whole_n = b_row == 1 ? n / lanes * lanes : 0, whole_k = k / lanes * lanes;
  for (Index j = 0; j < whole_n; j += lanes)
    for (Index p = 0; p < whole_k; p += lanes)
      transpose_square(b + j * b_col + p, b_col, to + p * panel + j, panel);
  for (Index p = 0; p < k; ++p)
    for (Index j = p < whole_k ? whole_n : 0; j < panel; ++j)
      to[p * panel + j] = j < n ? b[p * b_row + j * b_col] : Real(0);
}

/// Asks for lines of a block of rows that will be read soon.
struct Ahead {
  const Real* from;
  Index step, rows, columns, row = 0, column = 0;

  void ask(Index lines) {
    for (; lines > 0 && row < rows; --lines) {
      __builtin_prefetch(from + row * step + column, 0, 2);
      column += lanes;
      if (column >= columns) column = 0, ++row;
    }
  }
};

/// One panel of c, n <= `panel` columns, in tiles.
void run_panel(Tile t, Index m, Index n, bool together, Real* edge, Ahead& next_a, Ahead& next_b) {
  const int vectors = n > lanes ? 2 : 1;
  const bool whole = n == vectors * lanes;
  Real* c = t.c;
  for (Index i = 0; i < m; i += tile_rows, t.a += tile_rows * t.a_row, c += tile_rows * t.c_row) {
    const Index rows = least(tile_rows, m - i);
    next_a.ask(16);
    next_b.ask(16);
    const RunTile run = tiles.run[together][rows - 1][vectors - 1];
    if (whole) {
      t.c = c;
      run(t);
      continue;
    }
    Tile part = t;
    part.c = edge;
    part.c_row = panel;
    part.beta = 0;
    run(part);
    for (Index r = 0; r < rows; ++r)
      for (Index j = 0; j < n; ++j) {
        Real& to = c[r * t.c_row + j];
        to = edge[r * panel + j] + (t.beta == 0 ? Real(0) : t.beta * to);
      }
  }
}

}  // namespace

void multiply(const StridedProduct& x, Real* room) {
  Real *const packed = room, *const edge = packed + depth * panel;
  const bool together = x.a_row == 1 && x.a_col != 1;
  for (Index p = 0; p < x.k; p += depth) {
    const Index k = least(depth, x.k - p), more = least(depth, x.k - p - k);
    for (Index i = 0; i < x.m; i += tall) {
      const Index m = least(tall, x.m - i);
      const Real* a = x.a + i * x.a_row + p * x.a_col;
      // A transposed matrix is read across its rows, which no processor foresees.
      Ahead next_a{a + k * x.a_col, x.a_col, together ? more : 0, m};
      Ahead next_b{x.b + (p + k) * x.b_row, x.b_row, together && i == 0 ? more : 0, x.n};
      for (Index j = 0; j < x.n; j += panel) {
        const Index n = least(panel, x.n - j);
        pack_panel(x.b + p * x.b_row + j * x.b_col, x.b_row, x.b_col, k, n, packed);
        const Tile t{k,       a,       x.a_row,
                     x.a_col, packed,  x.c + i * x.c_row + j,
                     x.c_row, x.alpha, p == 0 ? x.beta : Real(1)};
        run_panel(t, m, n, together, edge, next_a, next_b);
      }
    }
  }
}

}  // namespace weft::core::avx512
