// Random features: how they are drawn, what they estimate, when they are drawn anew.
#include "layers/attention/features/orthogonal_features.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::performer_contract_test {
namespace {

using tests::same_bits;

std::vector<Real> drawn_features(Index rows, Index width, std::uint64_t seed) {
  std::vector<Real> w(std::size_t(rows * width));
  draw_orthogonal_features(w, rows, width, core::Rng(seed));
  return w;
}

double dot(const Real* x, const Real* y, Index n) {
  double total = 0;
  for (Index d = 0; d < n; ++d) total += double(x[d]) * y[d];
  return total;
}

TEST(OrthogonalFeatures, are_orthogonal_by_blocks_and_as_long_as_normal_vectors) {
  constexpr Index width = 16, rows = 40;
  double squares = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto w = drawn_features(rows, width, seed);
    for (Index r = 0; r < rows; ++r) {
      squares += dot(&w[std::size_t(r * width)], &w[std::size_t(r * width)], width);
      for (Index s = r / width * width; s < r; ++s)
        ASSERT_NEAR(dot(&w[std::size_t(r * width)], &w[std::size_t(s * width)], width), 0, 1e-4);
    }
  }
  // Squared lengths have mean 16 and variance 32; 2,000 of them.
  EXPECT_NEAR(squares / 2000, 16, 4 * std::sqrt(32.0 / 2000));
}

// Estimates of e^(q.k / sqrt(D)), one for each draw.
std::vector<double> estimates(const std::vector<Real>& q, const std::vector<Real>& k,
                              Index features, Index draws) {
  const auto width = Index(q.size());
  const double root = std::sqrt(double(width)), fourth = std::sqrt(root);
  std::vector<double> all;
  for (Index draw = 0; draw < draws; ++draw) {
    const auto w = drawn_features(features, width, 1000 + std::uint64_t(draw));
    double total = 0;
    for (Index c = 0; c < features; ++c) {
      const Real* row = &w[std::size_t(c * width)];
      total +=
          std::exp((dot(row, q.data(), width) + dot(row, k.data(), width)) / fourth -
                   (dot(q.data(), q.data(), width) + dot(k.data(), k.data(), width)) / (2 * root));
    }
    all.push_back(total / double(features));
  }
  return all;
}

std::pair<double, double> mean_and_deviation(const std::vector<double>& x) {
  double mean = 0, squares = 0;
  for (const double v : x) mean += v / double(x.size());
  for (const double v : x) squares += (v - mean) * (v - mean) / double(x.size() - 1);
  return {mean, std::sqrt(squares)};
}

TEST(OrthogonalFeatures, estimate_softmax_weights_without_bias_and_better_the_more_there_are) {
  // Short vectors: the estimates of long ones have too heavy a tail for 2,000 draws to tell.
  const Tensor rows = tests::random_tensor({2, 8}, 3, 0.4);
  const std::vector<Real> q(rows.rows(0, 1).read().begin(), rows.rows(0, 1).read().end());
  const std::vector<Real> k(rows.rows(1, 1).read().begin(), rows.rows(1, 1).read().end());
  const double exact = std::exp(dot(q.data(), k.data(), 8) / std::sqrt(8.0));
  double deviation_of_few = 0;
  for (const Index features : {8, 128}) {
    const auto [mean, deviation] = mean_and_deviation(estimates(q, k, features, 2000));
    EXPECT_NEAR(mean, exact, 4 * deviation / std::sqrt(2000.0)) << features;
    if (features == 8)
      deviation_of_few = deviation;
    else  // a sixteenth of the variance
      EXPECT_NEAR(deviation_of_few / deviation, 4, 0.6);
  }
}

// One optimizer step: a training pass for each micro-batch, then the commit.
void train(const AttentionSample& it, std::uint64_t step, std::uint64_t micro_batches = 1) {
  autograd::Journal journal;
  for (std::uint64_t m = 0; m < micro_batches; ++m) {
    autograd::Tape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : it.inputs()) leaves.push_back(tape.watch(x));
    it.forward(Pass(tape, core::Rng(3).fold(step).fold(m), journal), leaves);
  }
  journal.commit();
}

std::vector<Real> state_of(const AttentionSample& it) {
  const auto value = it.inventory().states().at(0).state->value().read();
  return {value.begin(), value.end()};
}
// Without the age.
std::vector<Real> features_of(const AttentionSample& it) {
  auto all = state_of(it);
  all.pop_back();
  return all;
}

TEST(Performer, draws_features_anew_after_the_first_step_and_then_by_the_period) {
  for (const Index period : {0, 1, 3}) {
    const AttentionSample it("performer", Sequences::self(1, 20, true), 2, 4, {{"redraw", period}});
    std::vector<Index> redrawn;
    for (Index step = 0; step < 8; ++step) {
      const auto before = features_of(it);
      train(it, std::uint64_t(step), 2);
      if (!same_bits(features_of(it), before)) redrawn.push_back(step);
    }
    const std::vector<Index> expected = period == 0   ? std::vector<Index>{0}
                                        : period == 3 ? std::vector<Index>{0, 3, 6}
                                                      : std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(redrawn, expected) << "period " << period;
  }
}

TEST(Performer, a_resumed_run_draws_what_the_whole_one_draws) {
  const tests::Settings settings{{"redraw", Index(3)}};
  const AttentionSample whole("performer", Sequences::self(1, 20, true), 2, 4, settings);
  for (std::uint64_t step = 0; step < 9; ++step) train(whole, step);
  const AttentionSample first("performer", Sequences::self(1, 20, true), 2, 4, settings);
  for (std::uint64_t step = 0; step < 5; ++step) train(first, step);
  const AttentionSample resumed("performer", Sequences::self(1, 20, true), 2, 4, settings);
  std::ranges::copy(state_of(first), resumed.inventory().states()[0].state->writable().begin());
  for (std::uint64_t step = 5; step < 9; ++step) train(resumed, step);
  EXPECT_TRUE(same_bits(state_of(whole), state_of(resumed)));
  EXPECT_TRUE(same_bits(whole.evaluate().read(), resumed.evaluate().read()));
}

TEST(Performer, evaluation_draws_nothing_and_decodes_with_the_features_of_training) {
  const AttentionSample it("performer", Sequences::self(1, 70, true), 2, 4);
  train(it, 0);
  const auto before = state_of(it);
  const Tensor whole = it.evaluate(), decoded = it.decode(0);
  EXPECT_TRUE(same_bits(before, state_of(it)));
  tests::expect_close(decoded.read(), tests::in_double(whole.read()), 1e-4);
}

TEST(Performer, takes_as_many_features_as_asked_for) {
  const AttentionSample given("performer", Sequences::self(1, 5, true), 1, 8,
                              {{"features", Index(50)}});
  EXPECT_EQ(features_of(given).size(), 400u);
  const AttentionSample usual("performer", Sequences::self(1, 5, true), 1, 64);
  EXPECT_EQ(features_of(usual).size(), 266u * 64);
}

TEST(Performer, approaches_softmax_attention_with_many_features) {
  const Sequences s = Sequences::self(1, 40, true);
  AttentionSample rough("performer", s, 1, 8),
      fine("performer", s, 1, 8, {{"features", Index(4096)}});
  AttentionSample dense("dense", s, 1, 8);
  for (AttentionSample* it : {&rough, &fine, &dense})
    for (const std::size_t i : {0, 1})
      for (Real& x : it->inputs()[i].write()) x *= Real(0.5);
  const auto gap = [&](const AttentionSample& it) {
    double total = 0;
    const Tensor a = it.evaluate(), b = dense.evaluate();
    for (std::size_t i = 0; i < a.read().size(); ++i)
      total += std::abs(double(a.read()[i]) - b.read()[i]);
    return total / double(a.read().size());
  };
  EXPECT_LT(gap(fine), 0.05);
  EXPECT_LT(gap(fine), gap(rough) / 4);
}

}  // namespace
}  // namespace weft::layers::performer_contract_test
