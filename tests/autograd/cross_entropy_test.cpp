#include <cmath>
#include <limits>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/memory.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::cross_entropy_test {
namespace {

using core::Token;
using core::Tokens;
using tests::expect_close;
using tests::random_tensor;
using tests::random_tokens;

/// Loss and gradients from whole rows of log-softmax in double.
struct Naive {
  double loss = 0;
  std::vector<double> dh, dweight, dbias;
};

std::vector<double> log_softmax(const Tensor& h, Index row, const Parameter& weight,
                                const Parameter* bias) {
  const Index vocabulary = weight.shape()[0], n = weight.shape()[1];
  std::vector<double> z(std::size_t(vocabulary), 0.0);
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (Index v = 0; v < vocabulary; ++v) {
    double& score = z[std::size_t(v)];
    for (Index j = 0; j < n; ++j) score += double(h.data()[row * n + j]) * weight.data()[v * n + j];
    if (bias) score += bias->data()[v];
    top = std::max(top, score);
  }
  for (const double score : z) total += std::exp(score - top);
  for (double& score : z) score -= top + std::log(total);
  return z;
}

Naive naive(const Tensor& h, const Parameter& weight, const Parameter* bias, const Tokens& targets,
            double share) {
  const Index vocabulary = weight.shape()[0], n = weight.shape()[1];
  Naive result{0, std::vector<double>(h.read().size(), 0.0),
               std::vector<double>(std::size_t(vocabulary * n), 0.0),
               std::vector<double>(std::size_t(vocabulary), 0.0)};
  double counted = 0;
  for (const Token t : targets.read()) counted += t != core::no_target;
  for (Index r = 0; r < h.shape()[0]; ++r) {
    const Token target = targets.read()[std::size_t(r)];
    if (target == core::no_target) continue;
    const auto logs = log_softmax(h, r, weight, bias);
    result.loss -= share / counted * logs[std::size_t(target)];
    for (Index v = 0; v < vocabulary; ++v) {
      const double d = share / counted * (std::exp(logs[std::size_t(v)]) - (v == target));
      result.dbias[std::size_t(v)] += d;
      for (Index j = 0; j < n; ++j) {
        result.dh[std::size_t(r * n + j)] += d * weight.data()[v * n + j];
        result.dweight[std::size_t(v * n + j)] += d * h.data()[r * n + j];
      }
    }
  }
  return result;
}

Tokens with_gaps(const Tokens& tokens) {
  std::vector<Token> ids(tokens.read().begin(), tokens.read().end());
  for (std::size_t i = 1; i < ids.size(); i += 3) ids[i] = core::no_target;
  return {tokens.shape(), ids};
}

void compare(Index rows, Index width, Index vocabulary, bool with_bias, Real share) {
  Parameter weight({vocabulary, width}, Init::zeros()), bias_parameter({vocabulary}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &bias_parameter});
  const Parameter* bias = with_bias ? &bias_parameter : nullptr;
  const Tensor h = random_tensor({rows, width}, 1);
  const Tokens targets = with_gaps(random_tokens({rows}, vocabulary, 2));
  const auto pulled = tests::pull_back(
      [&](const Pass&, const std::vector<Var>& x) {
        return cross_entropy(x[0], weight, bias, targets, share);
      },
      {h});
  Naive expected = naive(h, weight, bias, targets, share);
  for (auto* gradient : {&expected.dh, &expected.dweight, &expected.dbias})
    for (double& g : *gradient) g *= core::scalar(pulled.upstream);
  if (!bias) expected.dbias.assign(std::size_t(vocabulary), 0.0);
  expect_close(pulled.value.read(), {expected.loss}, 1e-6);
  expect_close(pulled.gradients[0].read(), expected.dh, 1e-6);
  expect_close(weight.gradient(), expected.dweight, 1e-6);
  expect_close(bias_parameter.gradient(), expected.dbias, 1e-6);
}

TEST(CrossEntropy, equals_the_naive_log_softmax) {
  for (const bool bias : {false, true})
    for (const Real share : {Real(1), Real(0.25)}) {
      compare(1, 3, 5, bias, share);
      compare(7, 5, 11, bias, share);
      compare(300, 16, 65, bias, share);
      compare(100, 4, 17000, bias, share);
    }
}

TEST(CrossEntropy, gives_the_same_loss_without_a_tape) {
  Parameter weight({33, 8}, Init::zeros()), bias({33}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &bias});
  const Tensor h = random_tensor({300, 8}, 1);
  const Tokens targets = random_tokens({300}, 33, 2);
  Tape tape;
  const Var recorded = cross_entropy(tape.watch(h), weight, &bias, targets);
  const Var plain = cross_entropy(Var(h), weight, &bias, targets);
  EXPECT_EQ(core::scalar(recorded.value()), core::scalar(plain.value()));
  EXPECT_EQ(plain.tape(), nullptr);
}

/// Logits are h weight^T = the row of `logits` itself, by an identity weight.
struct Logits {
  explicit Logits(const std::vector<Real>& logits)
      : n(Index(logits.size())), weight({n, n}, Init::zeros()), drawn({&weight}), h({1, n}) {
    std::ranges::fill(drawn.arena().values(), Real(0));
    for (Index i = 0; i < n; ++i) drawn.arena().values()[std::size_t(i * n + i)] = 1;
    std::ranges::copy(logits, h.write().begin());
  }
  tests::Pulled pull(Token target) {
    return tests::pull_back(
        [&](const Pass&, const std::vector<Var>& x) {
          return cross_entropy(x[0], weight, nullptr, Tokens({1}, {target}));
        },
        {h});
  }

  Index n;
  Parameter weight;
  tests::DrawnParameters drawn;
  Tensor h;
};

TEST(CrossEntropy, stays_finite_with_huge_logits) {
  Logits logits({Real(1e30), Real(-1e30), Real(3), Real(1e30)});
  const auto right = logits.pull(0);
  EXPECT_NEAR(core::scalar(right.value), std::log(2.0), 1e-6);
  EXPECT_NEAR(right.gradients[0].read()[0], -0.5 * core::scalar(right.upstream), 1e-6);
  EXPECT_EQ(right.gradients[0].read()[1], 0);
  const auto wrong = logits.pull(1);
  EXPECT_NEAR(core::scalar(wrong.value) / 2e30, 1, 1e-6);
  for (const Real g : wrong.gradients[0].read()) EXPECT_TRUE(std::isfinite(g));
}

TEST(CrossEntropy, gives_no_probability_to_a_symbol_ruled_out_by_its_bias) {
  Parameter weight({5, 3}, Init::zeros()), bias({5}, Init::zeros());
  tests::DrawnParameters drawn({&weight, &bias});
  auto& arena = drawn.arena();
  arena.value(arena.slots()[1])[4] = -std::numeric_limits<Real>::infinity();
  const auto pulled = tests::pull_back(
      [&](const Pass&, const std::vector<Var>& x) {
        return cross_entropy(x[0], weight, &bias, Tokens({2}, {1, 3}));
      },
      {random_tensor({2, 3}, 1)});
  EXPECT_TRUE(std::isfinite(core::scalar(pulled.value)));
  for (const Real g : pulled.gradients[0].read()) EXPECT_TRUE(std::isfinite(g));
  EXPECT_EQ(bias.gradient()[4], 0);
}

TEST(CrossEntropy, never_holds_the_logits_of_all_tokens) {
  constexpr Index rows = 5000, vocabulary = 2000;
  Parameter weight({vocabulary, 4}, Init::zeros());
  const tests::DrawnParameters drawn({&weight});
  const Tensor h = random_tensor({rows, 4}, 1);
  const Tokens targets = random_tokens({rows}, vocabulary, 2);
  Tape tape;
  core::reset_memory_peak();
  cross_entropy(tape.watch(h), weight, nullptr, targets);
  EXPECT_LT(core::memory_use().largest, rows * vocabulary * Index(sizeof(Real)) / 4);
}

TEST(CrossEntropy, refuses_targets_and_shapes_that_do_not_fit) {
  Parameter weight({5, 3}, Init::zeros()), bias({4}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &bias});
  const Var h(Tensor({2, 3}, 1));
  EXPECT_THROW(cross_entropy(h, weight, nullptr, Tokens({2}, {0, 5})), core::Error);
  EXPECT_THROW(cross_entropy(h, weight, nullptr, Tokens({2}, {0, -2})), core::Error);
  EXPECT_THROW(cross_entropy(h, weight, nullptr, Tokens({3}, {0, 1, 2})), core::Error);
  EXPECT_THROW(cross_entropy(h, weight, nullptr, Tokens({2}, {-1, -1})), core::Error);
  EXPECT_THROW(cross_entropy(h, weight, &bias, Tokens({2}, {0, 1})), core::Error);
  EXPECT_THROW(cross_entropy(Var(Tensor({2, 4}, 1)), weight, nullptr, Tokens({2}, {0, 1})),
               core::Error);
}

TEST(CrossEntropy, holds_the_logits_of_one_piece) {
  Parameter weight({1000, 4}, Init::zeros());
  const tests::DrawnParameters drawn({&weight});
  const auto peak = [&](Index rows) {
    Tape tape;
    const Var h = tape.watch(tests::random_tensor({2000, 4}, 1));
    core::reset_memory_peak();
    const Index before = core::memory_use().live;
    cross_entropy(h, weight, nullptr, tests::random_tokens({2000}, 1000, 2), 1, rows);
    return core::memory_use().peak - before;
  };
  const Index logits = 2000 * 1000 * Index(sizeof(Real));
  EXPECT_GT(peak(2000), logits);
  EXPECT_LT(peak(100), logits / 8);
}

}  // namespace
}  // namespace weft::autograd::cross_entropy_test
