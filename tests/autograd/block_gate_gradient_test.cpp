#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"

namespace weft::autograd::block_gate_gradient_test {
namespace {

using tests::random_tensor;

using Numbers = std::vector<double>;

Numbers softmax(const Numbers& logits, Index block) {
  Numbers p = logits;
  for (std::size_t b = 0; b < p.size(); b += std::size_t(block)) {
    double sum = 0;
    for (std::size_t i = b; i < b + std::size_t(block); ++i) sum += p[i] = std::exp(p[i]);
    for (std::size_t i = b; i < b + std::size_t(block); ++i) p[i] /= sum;
  }
  return p;
}

/// The gate written out. A hard one is onehot + p - what p was at the logits `at`, so that its
/// differences are those that go straight through.
Numbers gated(const Numbers& h, const Numbers& logits, const Numbers& at, Index block,
              const LiveUnits* live, bool inside) {
  const Numbers p = softmax(logits, block), was = softmax(at, block);
  Numbers y;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const auto b = i / std::size_t(block);
    double q = p[i];
    if (live) q = ((*live)[b] == i % std::size_t(block) ? 1 : 0) + (p[i] - was[i]);
    y.push_back(inside ? std::max(h[i] * q, 0.0) : std::max(h[i], 0.0) * q);
  }
  return y;
}

std::shared_ptr<const LiveUnits> some_units(Index count, Index block) {
  LiveUnits live;
  for (Index i = 0; i < count; ++i)
    live.push_back(std::uint8_t(core::Rng(4).below(std::uint64_t(i), block)));
  return std::make_shared<const LiveUnits>(live);
}

TEST(BlockGate, weighs_or_chooses_units) {
  for (const auto& [rows, blocks, block] : {std::tuple{1, 1, 1}, {3, 4, 5}, {70, 8, 64}})
    for (const bool inside : {false, true})
      for (const bool hard : {false, true}) {
        const Tensor h = random_tensor({rows, blocks * block}, 1),
                     logits = random_tensor({rows, blocks * block}, 2, 3);
        const auto live = hard ? some_units(rows * blocks, block) : nullptr;
        const Numbers z = tests::in_double(logits.read());
        tests::expect_close(block_gate(Var(h), Var(logits), block, live, inside).value().read(),
                            gated(tests::in_double(h.read()), z, z, block, live.get(), inside),
                            1e-12);
      }
}

TEST(BlockGateGradient, agrees_with_differences_of_a_soft_gate) {
  for (const bool inside : {false, true})
    tests::check_gradient("block_gate",
                          [&](const Pass&, const std::vector<Var>& x) {
                            return block_gate(x[0], x[1], 5, nullptr, inside);
                          },
                          {random_tensor({7, 20}, 1), random_tensor({7, 20}, 2)});
}

TEST(BlockGateGradient, of_a_hard_gate_goes_straight_through_to_the_softmax) {
  const Index block = 5;
  const auto live = some_units(7 * 4, block);
  for (const bool inside : {false, true}) {
    const Tensor h = random_tensor({7, 20}, 1), logits = random_tensor({7, 20}, 2);
    const auto pulled = tests::pull_back(
        [&](const Pass&, const std::vector<Var>& x) {
          return block_gate(x[0], x[1], block, live, inside);
        },
        {h, logits});
    const Numbers u = tests::in_double(pulled.upstream.read());
    const Numbers at = tests::in_double(logits.read());
    std::vector<Numbers> x{tests::in_double(h.read()), at};
    const auto value = [&](std::size_t input, std::size_t i, double step) {
      std::vector<Numbers> moved = x;
      moved[input][i] += step;
      const Numbers y = gated(moved[0], moved[1], at, block, live.get(), inside);
      double total = 0;
      for (std::size_t j = 0; j < y.size(); ++j) total += u[j] * y[j];
      return total;
    };
    for (const std::size_t input : {0, 1})
      for (std::size_t i = 0; i < at.size(); ++i) {
        // A dead unit inside the relu stands at its kink, where the op takes the side of 0.
        const bool dead = (*live)[i / std::size_t(block)] != i % std::size_t(block);
        if (inside && dead && input == 0) {
          EXPECT_EQ(pulled.gradients[0].read()[i], 0);
          continue;
        }
        if (inside && input == 1) continue;  // any logit moves dead units off their kinks
        const double h_step = 1e-5;
        const double numeric = (value(input, i, h_step) - value(input, i, -h_step)) / (2 * h_step);
        EXPECT_NEAR(pulled.gradients[input].read()[i], numeric, 1e-8) << input << " " << i;
      }
  }
}

TEST(BlockGateGradient, inside_the_relu_only_live_positive_units_teach_the_logits) {
  const Index block = 4;
  const auto live = some_units(3 * 5, block);
  const Tensor h = random_tensor({3, 20}, 1), logits = random_tensor({3, 20}, 2);
  const auto pulled = tests::pull_back(
      [&](const Pass&, const std::vector<Var>& x) {
        return block_gate(x[0], x[1], block, live, true);
      },
      {h, logits});
  const Numbers p = softmax(tests::in_double(logits.read()), block);
  for (std::size_t b = 0; b < live->size(); ++b) {
    const std::size_t first = b * std::size_t(block), one = first + (*live)[b];
    const double dq =
        h.read()[one] > 0 ? double(h.read()[one]) * double(pulled.upstream.read()[one]) : 0;
    for (std::size_t i = first; i < first + std::size_t(block); ++i)
      EXPECT_NEAR(pulled.gradients[1].read()[i], p[i] * ((i == one ? dq : 0) - p[one] * dq), 1e-12);
  }
}

TEST(BlockGate, refuses_what_does_not_fit) {
  const Var h(random_tensor({3, 20}, 1));
  EXPECT_THROW(block_gate(h, h, 3, nullptr, true), core::Error);
  EXPECT_THROW(block_gate(h, Var(random_tensor({3, 16}, 1)), 4, nullptr, true), core::Error);
  EXPECT_THROW(block_gate(h, h, 4, some_units(14, 4), true), core::Error);
}

}  // namespace
}  // namespace weft::autograd::block_gate_gradient_test
