#include <cmath>
#include <numeric>

#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "layers/parts/sparse_feed_forward.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::sparse_feed_forward_contract_test {
namespace {

constexpr double tolerance = 2000 * tests::epsilon;

/// relu((x W1) gate) W2 + b2 with the largest logit of each block open.
Grid naive_sparse(const Weights& w, const Grid& x, Index block) {
  const Grid none(0, 0);
  const Grid logits = naive_linear(w, "up", naive_linear(x, w.at("down.weight"), none));
  Grid h = naive_linear(x, w.at("in.weight"), none);
  for (Index r = 0; r < h.rows; ++r)
    for (Index c = 0; c < h.cols; ++c) {
      const Index first = c / block * block;
      bool largest = true;
      for (Index k = first; k < first + block; ++k)
        largest = largest && (k == c || logits.at(r, k) < logits.at(r, c));
      h.at(r, c) = largest ? std::max(h.at(r, c), 0.0) : 0;
    }
  return naive_linear(w, "out", h);
}

struct Size {
  Index width, hidden, block, rank;
};
const std::vector<Size> sizes{{1, 1, 1, 1}, {6, 12, 3, 2}, {20, 64, 16, 4}, {130, 512, 64, 8}};

TEST(SparseFeedForward, opens_the_largest_logit_of_each_block_in_evaluation) {
  for (const auto& [width, hidden, block, rank] : sizes)
    for (const bool inside : {false, true})
      for (const Index chunk : {0, 7}) {
        SparseFeedForward part(width, hidden, {.block = block, .rank = rank, .mask_inside = inside},
                               chunk);
        const DrawnWeights drawn(part);
        const Tensor x = tests::random_tensor({30, width}, 1),
                     r = tests::random_tensor({30, width}, 2);
        const Grid expected = naive_sparse(drawn.weights(), Grid(x), block);
        tests::expect_close(part.forward(Pass(), Var(x), {}).value().read(), expected.numbers,
                            tolerance);
        tests::expect_close(part.onto(Pass(), Var(r), Var(x), {}).value().read(),
                            naive_sum(Grid(r), expected).numbers, tolerance);
        EXPECT_EQ(part.weights(), 2 * width * hidden + width * rank + rank * hidden);
      }
}

TEST(SparseFeedForward, in_blocks_of_one_is_the_relu_feed_forward_without_first_bias) {
  for (const double hard : {0.0, 1.0}) {
    SparseFeedForward part(9, 14, {.block = 1, .rank = 3, .hard = hard});
    const DrawnWeights drawn(part);
    const Weights w = drawn.weights();
    const Tensor x = tests::random_tensor({11, 9}, 1);
    Grid h = naive_linear(Grid(x), w.at("in.weight"), Grid(0, 0));
    for (double& v : h.numbers) v = std::max(v, 0.0);
    const Grid expected = naive_linear(w, "out", h);
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass training(tape, core::Rng(1), journal);
    for (const Pass& pass : {Pass(), training})
      tests::expect_close(part.forward(pass, Var(x), {}).value().read(), expected.numbers,
                          tolerance);
  }
}

TEST(SparseFeedForward, gathers_at_decoding_what_it_masks_at_once) {
  for (const auto& [width, hidden, block, rank] : sizes) {
    SparseFeedForward part(width, hidden, {.block = block, .rank = rank});
    DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({20, width}, 1);
    for (const int round : {0, 1}) {
      const Tensor whole = part.forward(Pass(), Var(x), {}).value();
      for (Index t = 0; t < 20; ++t)
        tests::expect_close(part.step(x.rows(t, 1)).read(),
                            tests::in_double(whole.rows(t, 1).read()), tolerance);
      // New parameters: the strips must follow.
      core::fill_normal(drawn.arena().values(), core::Rng(std::uint64_t(7 + round)), 0.4);
    }
  }
}

TEST(SparseFeedForward, decodes_to_the_same_bits_on_any_number_of_threads) {
  SparseFeedForward part(300, 4096, {.block = 16, .rank = 8});
  const DrawnWeights drawn(part);
  const Tensor x = tests::random_tensor({1, 300}, 1);
  core::set_threads(1);
  const Tensor alone = part.step(x);
  for (const Index threads : {2, 3, 7}) {
    core::set_threads(threads);
    EXPECT_TRUE(tests::same_bits(part.step(x).read(), alone.read())) << threads;
  }
  core::set_threads(0);
}

TEST(SparseFeedForward, reads_the_weights_of_its_controller_and_of_live_units_only) {
  const Index width = 40, hidden = 256, block = 16, rank = 4;
  SparseFeedForward part(width, hidden, {.block = block, .rank = rank});
  DrawnWeights drawn(part);
  const auto read = [&](const Tensor& x) {
    const Index before = core::counters().weight_bytes;
    part.step(x);
    return (core::counters().weight_bytes - before) / Index(sizeof(Real));
  };
  const Tensor x = tests::random_tensor({1, width}, 1);
  const Grid h = naive_linear(Grid(x), drawn.weights().at("in.weight"), Grid(0, 0));
  const Grid logits = naive_linear(
      drawn.weights(), "up", naive_linear(Grid(x), drawn.weights().at("down.weight"), Grid(0, 0)));
  Index open = 0;
  for (Index b = 0; b < hidden; b += block) {
    const auto first = logits.numbers.begin() + b;
    open += h.at(0, b + (std::max_element(first, first + block) - first)) > 0;
  }
  const Index controller = width * rank + rank * hidden;
  EXPECT_EQ(read(x), controller + width * hidden / block + width * open);
  // Every unit positive: W r + r F + 2 W F / N.
  for (const auto& segment : drawn.arena().slots())
    if (segment.name == "in.weight") std::ranges::fill(drawn.arena().value(segment), Real(1));
  EXPECT_EQ(read(Tensor({1, width}, 1)), controller + 2 * width * hidden / block);
}

TEST(SparseFeedForward, chooses_units_with_the_frequencies_of_the_tempered_softmax) {
  constexpr Index block = 8, rows = 40000;
  for (const double temperature : {0.1, 1.0}) {
    Tensor logits({rows, block});
    std::vector<double> expected;
    for (Index k = 0; k < block; ++k) {
      const double z = temperature * (0.3 * double(k % 3) - 0.2 * double(k));
      expected.push_back(std::exp(z / temperature));
      for (Index r = 0; r < rows; ++r) logits.write()[std::size_t(r * block + k)] = Real(z);
    }
    const double sum = std::reduce(expected.begin(), expected.end());
    std::vector<double> seen(block, 0);
    for (const std::uint8_t unit : choose_units(logits, block, temperature, core::Rng(5)))
      ++seen[unit];
    double chi_square = 0;
    for (std::size_t k = 0; k < block; ++k) {
      const double mean = rows * expected[k] / sum;
      chi_square += (seen[k] - mean) * (seen[k] - mean) / mean;
    }
    EXPECT_LT(chi_square, 24.3) << "7 degrees of freedom, exceeded once in a thousand";
  }
}

TEST(SparseFeedForward, tosses_one_coin_for_a_call_and_takes_the_hard_side_as_often_as_asked) {
  SparseFeedForward part(6, 12, {.block = 3, .rank = 2, .hard = 0.3});
  const DrawnWeights drawn(part);
  const Tensor x = tests::random_tensor({1, 6}, 1);
  Index hard = 0;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass pass(tape, core::Rng(step), journal);
    part.forward(pass, Var(x), {});
    hard += pass.decide("live units", [] { return autograd::LiveUnits(); })->size() > 0;
  }
  EXPECT_NEAR(double(hard), 300, 60);
}

TEST(SparseFeedForward, reads_its_choices_back_in_a_replay) {
  for (const Index chunk : {0, 4}) {
    SparseFeedForward part(6, 12, {.block = 3, .rank = 2, .temperature = 5, .hard = 1}, chunk);
    DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({10, 6}, 1);
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass pass(tape, core::Rng(1), journal);
    const Tensor first = part.forward(pass, Var(x), {}).value();
    // Other logits would choose other units; the journal says which it was.
    for (const auto& segment : drawn.arena().slots())
      if (segment.name == "up.bias")
        core::fill_normal(drawn.arena().value(segment), core::Rng(9), 100);
    autograd::Tape scratch;
    const Tensor again = part.forward(pass.replayed_on(scratch), Var(x), {}).value();
    EXPECT_TRUE(tests::same_bits(first.read(), again.read()));
    EXPECT_FALSE(tests::same_bits(part.forward(Pass(), Var(x), {}).value().read(), first.read()));
  }
}

TEST(SparseFeedForward, passes_gradients) {
  for (const bool inside : {false, true})
    for (const Index chunk : {0, 4}) {
      SparseFeedForward part(7, 12, {.block = 4, .rank = 3, .hard = 0, .mask_inside = inside},
                             chunk);
      DrawnWeights drawn(part);
      tests::check_gradient(
          "sparse_feed_forward",
          [&](const Pass& pass, const std::vector<Var>& in) {
            return part.forward(pass, in[0], {});
          },
          {tests::random_tensor({9, 7}, 1)}, drawn.arena());
    }
}

TEST(SparseFeedForward, settings_name_what_is_wrong) {
  tests::GivenFields fields({{"ff_block", Index(5)}});
  SparseFeedForwardSettings().fields(fields, 12);
  EXPECT_TRUE(fields.problems().contains("ff_block"));
  EXPECT_THROW(SparseFeedForward(4, 12, {.block = 5}), core::Error);
}

}  // namespace
}  // namespace weft::layers::sparse_feed_forward_contract_test
