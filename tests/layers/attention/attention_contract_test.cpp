// What mechanisms compute, in both precisions. What is compared bit by bit is in
// attention_bits_test.cpp, in float alone.
#include "tests/layers/attention/attention_contract.h"

#include "tests/closeness.h"
#include "tests/layers/attention/attention_oracles.h"

namespace weft::layers::attention_contract_test {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);

using Numbers = std::vector<double>;

std::vector<Numbers> moved(const std::vector<Numbers>& x, const std::vector<Numbers>& v, double h) {
  std::vector<Numbers> y = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x[i].size(); ++j) y[i][j] += h * v[i][j];
  return y;
}

// Output, and gradients projected on one random direction, against differences of the oracle.
void expect_like(const Oracle& oracle, const AttentionSample& it) {
  const auto run = it.run();
  std::vector<Numbers> x, v;
  double reverse = 0, squares = 0;
  for (std::size_t i = 0; i < it.inputs().size(); ++i) {
    x.push_back(tests::in_double(it.inputs()[i].read()));
    v.push_back(tests::in_double(tests::random_tensor(it.inputs()[i].shape(), 40 + i).read()));
    for (std::size_t j = 0; j < x[i].size(); ++j) {
      const double g = run.gradients[i].read()[j];
      reverse += g * v[i][j];
      squares += g * g;
    }
  }
  tests::expect_close(run.out.read(), oracle(it, x), in_double ? 1e-12 : 1e-5);
  const Tensor upstream = it.upstream();
  const double close = (in_double ? 1e-8 : 1e-5) * std::sqrt(squares);
  double numeric = 0;
  for (const double h : {1e-5, 1e-7}) {  // the shorter step for what bends within the longer one
    const Numbers above = oracle(it, moved(x, v, h)), below = oracle(it, moved(x, v, -h));
    numeric = 0;
    for (std::size_t j = 0; j < above.size(); ++j)
      numeric += double(upstream.read()[j]) * (above[j] - below[j]) / (2 * h);
    if (std::abs(reverse - numeric) <= close) break;
  }
  EXPECT_NEAR(reverse, numeric, close);
}

TEST_P(AttentionContract, float_and_double_agree_with_the_naive_formula) {
  const auto oracle = attention_oracles().find(GetParam().name);
  ASSERT_NE(oracle, attention_oracles().end()) << "add the naive formula of " << GetParam().name
                                               << " to tests/layers/attention/attention_oracles.h";
  for (const Index length : {1, 7, 129})
    for (const Sequences& s : forms(length)) {
      SCOPED_TRACE(describe(s));
      expect_like(oracle->second, sample(s));
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContract, testing::ValuesIn(registry_and_variants()),
                         name_of);

class AttentionContractCausal : public AttentionContract {};

TEST_P(AttentionContractCausal, decoding_gives_what_the_whole_pass_gives) {
  for (const Index length : {1, 2, 7, 129, 300}) {
    const AttentionSample it = sample(Sequences::self(2, length, true));
    const Tensor whole = it.evaluate();
    double largest = 1;
    for (const Real y : whole.read()) largest = std::max(largest, std::abs(double(y)));
    for (Index b = 0; b < 2; ++b) {
      const Tensor decoded = it.decode(b), expected = it.tokens_of(whole, b);
      for (std::size_t i = 0; i < decoded.read().size(); ++i)
        ASSERT_NEAR(decoded.read()[i], expected.read()[i], (in_double ? 1e-10 : 1e-4) * largest)
            << "token " << Index(i) / it.width() << " of " << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractCausal,
                         testing::ValuesIn(those_that([](const AttentionTraits& traits) {
                           return traits.causal;
                         })),
                         name_of);

class AttentionContractQueries : public AttentionContract {};

TEST_P(AttentionContractQueries, answers_a_query_alone_as_among_others) {
  const Index queries = 9;
  const Sequences together = padded({2, queries, 20, false}, {13, 20});
  const AttentionSample it = sample(together);
  const Tensor all = it.evaluate();
  const auto row_of_each = [&](const Tensor& x, Index t) {
    Tensor rows({2, x.shape().back()});
    for (Index b = 0; b < 2; ++b)
      std::ranges::copy(x.rows(b * queries + t, 1).read(),
                        rows.write().begin() + b * x.shape().back());
    return rows;
  };
  for (Index t = 0; t < queries; ++t) {
    AttentionInput input{{}, Var(row_of_each(it.inputs().back(), t)), together};
    input.sequences.queries = 1;
    const auto projections = it.attention().projections();
    for (std::size_t i = 0; i < projections.size(); ++i) {
      const bool of_queries = projections[i].side == Projection::Side::queries;
      input.blocks.push_back(
          {Var(of_queries ? row_of_each(it.inputs()[i], t) : it.inputs()[i]), 0});
    }
    tests::expect_close(it.attention().forward(Pass(core::Rng(3)), input).value().read(),
                        tests::in_double(row_of_each(all, t).read()), in_double ? 1e-12 : 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, AttentionContractQueries,
                         testing::ValuesIn(those_that([](const AttentionTraits& traits) {
                           return traits.queries_alone;
                         })),
                         name_of);

}  // namespace
}  // namespace weft::layers::attention_contract_test
