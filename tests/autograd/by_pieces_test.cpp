#include "autograd/ops.h"
#include "core/error.h"
#include "core/memory.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::by_pieces_test {
namespace {

using tests::pull_back;
using tests::random_tensor;
using Inputs = std::vector<Var>;

struct Layer {
  Parameter in{{96, 24}, Init::zeros()}, bias{{96}, Init::zeros()}, out{{24, 96}, Init::zeros()};
  tests::DrawnParameters drawn{{&in, &bias, &out}};

  Var operator()(const Pass&, const Var& x) const {
    return linear(bias_gelu(linear(x, in), bias), out);
  }
};

TEST(ByPieces, gives_what_the_whole_gives) {
  const Tensor x = random_tensor({700, 24}, 1);
  Layer layer, twin;
  const auto whole =
      pull_back([&](const Pass& p, const Inputs& in) { return layer(p, in[0]); }, {x});
  for (const Index rows : {64, 256, 699, 700}) {
    twin.drawn.arena().zero_gradients();
    const auto pieces = pull_back(
        [&](const Pass& p, const Inputs& in) { return by_pieces(p, std::cref(twin), in[0], rows); },
        {x});
    tests::expect_close(pieces.value.read(), tests::in_double(whole.value.read()), 1e-5);
    tests::expect_close(pieces.gradients[0].read(), tests::in_double(whole.gradients[0].read()),
                        1e-4);
    tests::expect_close(twin.drawn.arena().gradients(),
                        tests::in_double(layer.drawn.arena().gradients()), 1e-3);
  }
}

TEST(ByPieces, holds_the_inner_activations_of_one_piece) {
  const Tensor x = random_tensor({4096, 24}, 1);
  const Index bytes = Index(sizeof(Real)), stream = x.size() * bytes, piece = 128 * 96 * bytes;
  Layer layer;
  Tape tape;
  Journal journal;
  const Var in = tape.watch(x);
  core::reset_memory_peak();
  const Index before = core::memory_use().live;
  const Var y = by_pieces(Pass(tape, core::Rng(1), journal), std::cref(layer), in, 128);
  tape.sweep(y, random_tensor(y.shape(), 2));
  EXPECT_LT(core::memory_use().peak - before, (3 * stream + 6 * piece) * 9 / 8);
}

TEST(ByPieces, refuses_pieces_of_nothing) {
  const Sublayer same = [](const Pass&, const Var& x) { return x; };
  EXPECT_THROW(by_pieces(Pass(), same, Var(Tensor({4, 2}, 1)), 0), core::Error);
  EXPECT_THROW(by_pieces(Pass(), same, Var(Tensor({4}, 1)), 2), core::Error);
}

}  // namespace
}  // namespace weft::autograd::by_pieces_test
