// Multiplicative layers and the sparse projections that they begin.
#include <cmath>

#include "core/counters.h"
#include "core/error.h"
#include "layers/multi_head/sparse_projection.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::sparse_projection_contract_test {
namespace {

constexpr double tolerance = 2000 * tests::epsilon;

const std::vector<Projection> qkv{{"q", Projection::Side::queries, true},
                                  {"k", Projection::Side::keys, true},
                                  {"v", Projection::Side::keys, false}};

Grid naive_multiplicative(const Grid& x, const Grid& modules, const Grid& columns) {
  Grid y(x.rows, modules.rows * columns.rows);
  for (Index r = 0; r < x.rows; ++r)
    for (Index s = 0; s < modules.rows; ++s)
      for (Index k = 0; k < columns.rows; ++k)
        for (Index i = 0; i < x.cols; ++i)
          y.at(r, s * columns.rows + k) += x.at(r, i) * modules.at(s, i) * columns.at(k, i);
  return y;
}

TEST(Multiplicative, sums_products_of_two_weights) {
  for (const auto& [width, modules, columns] :
       {std::tuple{1, 1, 1}, {6, 2, 3}, {7, 1, 5}, {5, 4, 1}, {64, 8, 16}}) {
    Multiplicative part(width, modules, columns);
    const DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({9, width}, 1);
    const Grid expected =
        naive_multiplicative(Grid(x), drawn.weights().at("modules"), drawn.weights().at("columns"));
    tests::expect_close(part.forward(Pass(), Var(x)).value().read(), expected.numbers, tolerance);
    Tensor y({1, modules * columns});
    const Index before = core::counters().weight_bytes;
    part.step(x.rows(3, 1).data(), y.write().data());
    EXPECT_EQ(core::counters().weight_bytes - before,
              width * (modules + columns) * Index(sizeof(Real)));
    const auto row = expected.numbers.begin() + 3 * expected.cols;
    tests::expect_close(y.read(), {row, row + expected.cols}, tolerance);
  }
}

TEST(Multiplicative, is_any_matrix_with_one_module_or_one_column) {
  // With S = 1 and D = 1, or M = 1 and E = 1, the other factor is the matrix.
  for (const bool one_module : {false, true}) {
    Multiplicative part(6, one_module ? 1 : 5, one_module ? 5 : 1);
    DrawnWeights drawn(part);
    for (const auto& segment : drawn.arena().slots())
      if (segment.name == (one_module ? "modules" : "columns"))
        std::ranges::fill(drawn.arena().value(segment), Real(1));
    const Grid matrix = drawn.weights().at(one_module ? "columns" : "modules");
    const Tensor x = tests::random_tensor({4, 6}, 1);
    tests::expect_close(part.forward(Pass(), Var(x)).value().read(),
                        naive_linear(Grid(x), matrix, Grid(0, 0)).numbers, tolerance);
  }
}

TEST(Multiplicative, represents_any_permutation_exactly) {
  const Index S = 4, M = 6, width = S * M;
  Multiplicative part(width, S, M);
  DrawnWeights drawn(part);
  std::ranges::fill(drawn.arena().values(), Real(0));
  const auto to = [&](Index i) { return (7 * i + 5) % width; };  // 7 and 24 have no common divisor
  for (const auto& segment : drawn.arena().slots())
    for (Index i = 0; i < width; ++i)
      drawn.arena().value(
          segment)[std::size_t((segment.name == "modules" ? to(i) / M : to(i) % M) * width + i)] =
          1;
  const Tensor x = tests::random_tensor({3, width}, 1);
  const Tensor y = part.forward(Pass(), Var(x)).value();
  for (Index r = 0; r < 3; ++r)
    for (Index i = 0; i < width; ++i)
      EXPECT_EQ(y.read()[std::size_t(r * width + to(i))], x.read()[std::size_t(r * width + i)]);
}

TEST(Multiplicative, starts_with_the_variance_that_it_documents) {
  const Index width = 256, S = 16, M = 16;
  Multiplicative part(width, S, M);
  DrawnWeights drawn(part);
  drawn.arena().initialise(core::Rng(2));
  const Tensor y = part.forward(Pass(), Var(tests::random_tensor({200, width}, 1))).value();
  double square = 0;
  for (const Real v : y.read()) square += double(v) * double(v) / double(y.size());
  EXPECT_NEAR(square, 0.5 * double(width) / double(width + M), 0.05);
}

TEST(Multiplicative, passes_gradients) {
  Multiplicative part(7, 3, 4);
  DrawnWeights drawn(part);
  tests::check_gradient(
      "multiplicative",
      [&](const Pass& pass, const std::vector<Var>& in) { return part.forward(pass, in[0]); },
      {tests::random_tensor({9, 7}, 1)}, drawn.arena());
}

TEST(SparseProjection, convolves_one_shared_layer_for_each_projection) {
  SparseProjection part(qkv, 8, 2, 6, 3);
  const DrawnWeights drawn(part);
  const Tensor x = tests::random_tensor({10, 8}, 1);
  const auto blocks = part.forward(Pass(), Var(x), 5);
  ASSERT_EQ(blocks.size(), 3u);
  const Weights w = drawn.weights();
  const Grid mixed = naive_multiplicative(Grid(x), w.at("mix.modules"), w.at("mix.columns"));
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name(qkv[i].name);
    const Index M = 3, spread = name == "v" ? 1 : 3;
    const Grid &kernel = w.at(name + ".weight"), &bias = w.at(name + ".bias");
    Grid y(10, 6);
    for (Index r = 0; r < 10; ++r)
      for (Index s = 0; s < 2; ++s)
        for (Index o = 0; o < M; ++o) {
          y.at(r, s * M + o) = bias.at(0, o);
          for (Index a = 0; a < 3; ++a)
            for (Index c = 0; c < spread; ++c) {
              const Index back = 2 - a, from = s + c - spread / 2;
              if (r % 5 < back || from < 0 || from > 1) continue;
              for (Index k = 0; k < M; ++k)
                y.at(r, s * M + o) +=
                    mixed.at(r - back, from * M + k) * kernel.at((a * spread + c) * M + k, o);
            }
        }
    tests::expect_close(blocks[i].matrix.value().read(), y.numbers, tolerance);
  }
}

TEST(SparseProjection, decodes_what_it_computes_at_once_and_reads_its_weights_once) {
  for (const Index taps : {1, 2, 3, 5})
    for (const Index modules : {1, 2, 6}) {
      SparseProjection part(qkv, 8, modules, 6, taps);
      const DrawnWeights drawn(part);
      const Tensor x = tests::random_tensor({9, 8}, 1);
      const auto blocks = part.forward(Pass(), Var(x), 9);
      const auto state = part.begin();
      for (Index t = 0; t < 9; ++t) {
        const Index before = core::counters().weight_bytes;
        const Tensor y = part.step({{state.get(), t}}, x.rows(t, 1));
        EXPECT_EQ(core::counters().weight_bytes - before, part.weights() * Index(sizeof(Real)));
        for (std::size_t i = 0; i < 3; ++i)
          tests::expect_close(y.read().subspan(6 * i, 6),
                              tests::in_double(blocks[i].matrix.value().rows(t, 1).read()),
                              tolerance);
      }
      const Index M = 6 / modules;
      EXPECT_EQ(part.weights(), 8 * (modules + M) + (3 + 3 + 1) * taps * M * M);
    }
}

TEST(SparseProjection, passes_gradients) {
  SparseProjection part(qkv, 8, 2, 6, 3);
  DrawnWeights drawn(part);
  tests::check_gradient(
      "sparse_projection",
      [&](const Pass& pass, const std::vector<Var>& in) {
        std::vector<Var> all;
        for (const HeadBlock& block : part.forward(pass, in[0], 5)) all.push_back(block.matrix);
        return autograd::concat(all);
      },
      {tests::random_tensor({10, 8}, 1)}, drawn.arena());
}

}  // namespace
}  // namespace weft::layers::sparse_projection_contract_test
