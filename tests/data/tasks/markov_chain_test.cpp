#include "data/tasks/markov_chain.h"

#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"

namespace weft::data::markov_chain_test {
namespace {

using core::Index;
using core::Token;

const MarkovChain chain(26, 4, core::Rng(1));

TEST(MarkovChain, every_symbol_has_distinct_successors_of_unequal_probability) {
  for (Token symbol = 0; symbol < 26; ++symbol) {
    const auto next = chain.successors(symbol);
    EXPECT_EQ(std::set<Token>(next.begin(), next.end()).size(), 4u);
    for (const Token follower : next) EXPECT_TRUE(follower >= 0 && follower < 26);
  }
  EXPECT_EQ((std::vector<double>(chain.probabilities().begin(), chain.probabilities().end())),
            (std::vector<double>{0.4, 0.3, 0.2, 0.1}));
}

TEST(MarkovChain, every_symbol_can_be_reached_from_every_symbol) {
  for (const Index successors : {1, 2, 4}) {
    const MarkovChain sparse(50, successors, core::Rng(3));
    for (Token start = 0; start < 50; ++start) {
      std::set<Token> reached{start};
      std::vector<Token> open{start};
      while (!open.empty()) {
        const Token symbol = open.back();
        open.pop_back();
        for (const Token next : sparse.successors(symbol)) {
          if (reached.insert(next).second) open.push_back(next);
        }
      }
      EXPECT_EQ(reached.size(), 50u) << start;
    }
  }
}

TEST(MarkovChain, one_step_leaves_the_stationary_distribution_as_it_is) {
  for (const Index successors : {1, 2, 4, 26}) {  // one successor: a cycle, which is periodic
    const MarkovChain some(26, successors, core::Rng(7));
    const std::vector<double> before = some.stationary();
    std::vector<double> after(26, 0.0);
    for (Token symbol = 0; symbol < 26; ++symbol) {
      for (std::size_t i = 0; i < std::size_t(successors); ++i) {
        after[std::size_t(some.successors(symbol)[i])] +=
            before[std::size_t(symbol)] * some.probabilities()[i];
      }
    }
    EXPECT_NEAR(std::reduce(before.begin(), before.end()), 1, 1e-12);
    for (std::size_t i = 0; i < 26; ++i) EXPECT_NEAR(after[i], before[i], 1e-12);
  }
}

TEST(MarkovChain, entropy_is_the_closed_form_over_the_stationary_distribution) {
  const std::vector<double> often = chain.stationary();
  double bits = 0;
  for (const double share : often) {
    for (const double p : chain.probabilities()) bits -= share * p * std::log2(p);
  }
  EXPECT_NEAR(chain.entropy(), bits, 1e-12);
  EXPECT_EQ(MarkovChain(10, 1, core::Rng(1)).entropy(), 0);
}

TEST(MarkovChain, is_the_same_for_the_same_stream_and_another_for_another) {
  const auto table = [](const MarkovChain& some) {
    std::vector<Token> all;
    for (Token i = 0; i < 26; ++i) {
      const auto next = some.successors(i);
      all.insert(all.end(), next.begin(), next.end());
    }
    return all;
  };
  EXPECT_EQ(table(chain), table(MarkovChain(26, 4, core::Rng(1))));
  EXPECT_NE(table(chain), table(MarkovChain(26, 4, core::Rng(2))));
}

TEST(MarkovChain, refuses_more_successors_than_symbols) {
  EXPECT_THROW(MarkovChain(4, 5, core::Rng(1)), core::Error);
  EXPECT_THROW(MarkovChain(4, 0, core::Rng(1)), core::Error);
}

}  // namespace
}  // namespace weft::data::markov_chain_test
