#include "core/arrays/bf16.h"
#include "core/memory.h"
#include "layers/parts/feed_forward.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::dense_feed_forward_contract_test {
namespace {

constexpr double tolerance = 600 * tests::epsilon;

TEST(DenseFeedForward, is_two_products_with_an_exact_gelu_between) {
  for (const auto& [width, hidden, rows] : {std::tuple{1, 1, 1}, {6, 11, 5}, {64, 256, 300}})
    for (const Index chunk : {0, 2, 128}) {
      DenseFeedForward part(width, hidden, Init::zeros(), Init::zeros(), chunk);
      const DrawnWeights drawn(part);
      const Tensor x = tests::random_tensor({rows, width}, 1),
                   r = tests::random_tensor({rows, width}, 2);
      const Grid expected = naive_feed_forward(drawn.weights(), "", Grid(x));
      tests::expect_close(part.forward(Pass(), Var(x), {}).value().read(), expected.numbers,
                          tolerance);
      tests::expect_close(part.onto(Pass(), Var(r), Var(x), {}).value().read(),
                          naive_sum(Grid(r), expected).numbers, tolerance);
      EXPECT_EQ(part.weights(), 2 * width * hidden);
    }
}

TEST(DenseFeedForward, by_pieces_never_holds_all_hidden_units) {
  constexpr Index rows = 2048, hidden = 256;
  const auto peak = [](Index chunk) {
    DenseFeedForward part(16, hidden, Init::zeros(), Init::zeros(), chunk);
    const DrawnWeights drawn(part);
    autograd::Tape tape;
    const Var x = tape.watch(tests::random_tensor({rows, 16}, 1));
    const Index before = core::memory_use().live;
    core::reset_memory_peak();
    const Var y = part.forward(Pass(), x, {});
    tape.sweep(y, Tensor(y.shape(), 1));
    return core::memory_use().peak - before;
  };
  const Index all = rows * hidden * Index(sizeof(Real));
  EXPECT_GT(peak(0), 2 * all);
  EXPECT_LT(peak(128), all / 2);
}

TEST(DenseFeedForward, in_bf16_keeps_nothing_in_full_for_the_sweep) {
  constexpr Index rows = 256, width = 64, hidden = 512;
  for (const Activation activation : {Activation::gelu, Activation::gelu_tanh}) {
    const auto kept = [&](core::Precision precision) {
      DenseFeedForward part(width, hidden, Init::zeros(), Init::zeros(), 0, activation);
      Inventory inventory;
      part.visit(inventory);
      autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::training, precision);
      core::fill_normal(arena.values(), core::Rng(1), 0.4);
      autograd::Tape tape;
      const Var x = tape.watch(tests::random_tensor({rows, width}, 1));
      const Index before = core::memory_use().live;
      part.forward(Pass(), x, {});
      return core::memory_use().live - before;
    };
    EXPECT_EQ(kept(core::Precision::float32), rows * 2 * hidden * Index(sizeof(Real)))
        << "besides x, which is here";
    EXPECT_EQ(kept(core::Precision::bf16), rows * (width + 2 * hidden) * Index(sizeof(core::Bf16)));
  }
}

class FeedForwardPieces : public testing::TestWithParam<Index> {};

TEST_P(FeedForwardPieces, passes_gradients) {
  DenseFeedForward part(7, 13, Init::zeros(), Init::zeros(), GetParam());
  DrawnWeights drawn(part);
  const std::vector<Tensor> inputs{tests::random_tensor({9, 7}, 1),
                                   tests::random_tensor({9, 7}, 2)};
  tests::check_gradient(
      "feed_forward",
      [&](const Pass&, const std::vector<Var>& in) {
        return autograd::add(part.forward(Pass(), in[0], {}), part.onto(Pass(), in[0], in[1], {}));
      },
      inputs, drawn.arena());
}

INSTANTIATE_TEST_SUITE_P(Rows, FeedForwardPieces, testing::Values(0, 4),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace weft::layers::dense_feed_forward_contract_test
