#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::add_positions_test {
namespace {

using tests::random_tensor;

TEST(AddPositions, adds_the_row_of_each_place_and_sums_its_gradient_over_sequences) {
  constexpr Index batch = 3, length = 5, width = 7, first = 2;
  Parameter table({first + length + 1, width}, Init::zeros());
  const tests::DrawnParameters drawn({&table});
  const Tensor x = random_tensor({batch * length, width}, 1);
  const auto pulled = tests::pull_back(
      [&](const Pass&, const std::vector<Var>& in) {
        return add_positions(in[0], table, length, first);
      },
      {x});
  std::vector<double> expected, dtable(std::size_t(table.shape().size()), 0.0);
  for (Index r = 0; r < batch * length; ++r)
    for (Index j = 0; j < width; ++j) {
      const std::size_t i = std::size_t(r * width + j);
      const std::size_t place = std::size_t((first + r % length) * width + j);
      expected.push_back(double(x.read()[i]) + table.value().read()[place]);
      dtable[place] += pulled.upstream.read()[i];
    }
  tests::expect_close(pulled.value.read(), expected, 1e-6);
  tests::expect_close(table.gradient(), dtable, 1e-6);
  EXPECT_TRUE(tests::same_bits(pulled.gradients[0].read(), pulled.upstream.read()));
}

TEST(AddPositions, gives_the_same_with_a_fixed_table) {
  Parameter table({4, 3}, Init::zeros());
  const tests::DrawnParameters drawn({&table});
  const Var x(random_tensor({8, 3}, 1));
  EXPECT_TRUE(tests::same_bits(add_positions(x, table, 4).value().read(),
                               add_positions(x, table.value(), 4).value().read()));
}

TEST(AddPositions, refuses_broken_sequences_and_places_beyond_the_table) {
  const Tensor table({4, 3}, 1);
  EXPECT_THROW(add_positions(Var(Tensor({7, 3}, 1)), table, 4), core::Error);
  EXPECT_THROW(add_positions(Var(Tensor({8, 2}, 1)), table, 4), core::Error);
  EXPECT_THROW(add_positions(Var(Tensor({5, 3}, 1)), table, 5), core::Error);
  EXPECT_THROW(add_positions(Var(Tensor({4, 3}, 1)), table, 4, 1), core::Error);
  EXPECT_THROW(add_positions(Var(Tensor({4, 3}, 1)), Tensor({3}, 1), 1), core::Error);
}

}  // namespace
}  // namespace weft::autograd::add_positions_test
