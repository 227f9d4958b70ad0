#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::cross_entropy_gradient_test {
namespace {

using core::Token;
using core::Tokens;
using tests::check_gradient;
using tests::random_tensor;
using tests::random_tokens;

/// Every third target uncounted.
Tokens with_gaps(const Tokens& tokens) {
  std::vector<Token> ids(tokens.read().begin(), tokens.read().end());
  for (std::size_t i = 1; i < ids.size(); i += 3) ids[i] = core::no_target;
  return {tokens.shape(), ids};
}

void check(Index rows, Index width, Index vocabulary, bool with_bias, Real share,
           const Tokens& targets) {
  Parameter weight({vocabulary, width}, Init::zeros()), bias({vocabulary}, Init::zeros());
  std::vector<Parameter*> parameters{&weight};
  if (with_bias) parameters.push_back(&bias);
  check_gradient(
      "cross_entropy",
      [&](const Pass&, const std::vector<Var>& x) {
        return cross_entropy(x[0], weight, with_bias ? &bias : nullptr, targets, share);
      },
      {random_tensor({rows, width}, 1)}, parameters);
}

TEST(CrossEntropyGradient, agrees_with_differences) {
  for (const bool bias : {false, true})
    for (const Real share : {Real(1), Real(0.25)}) {
      check(1, 1, 2, bias, share, random_tokens({1}, 2, 3));
      check(7, 5, 11, bias, share, random_tokens({7}, 11, 3));
      check(6, 5, 11, bias, share, random_tokens({2, 3}, 11, 3));
      check(300, 9, 33, bias, share, random_tokens({300}, 33, 3));
    }
}

TEST(CrossEntropyGradient, leaves_out_targets_that_are_not_counted) {
  for (const bool bias : {false, true}) {
    check(7, 5, 11, bias, 1, with_gaps(random_tokens({7}, 11, 3)));
    check(300, 9, 33, bias, 2, with_gaps(random_tokens({300}, 33, 3)));
  }
}

TEST(CrossEntropyGradient, adds_up_over_several_pieces_of_a_large_vocabulary) {
  check(150, 3, 20001, true, 1, with_gaps(random_tokens({150}, 20001, 3)));
}

TEST(CrossEntropyGradient, adds_up_over_several_pieces_of_many_tokens) {
  check(4500, 3, 5, true, Real(0.5), with_gaps(random_tokens({4500}, 5, 3)));
}

TEST(CrossEntropyGradient, adds_up_over_pieces_of_a_given_size) {
  Parameter weight({11, 5}, Init::zeros());
  const Tokens targets = with_gaps(random_tokens({50}, 11, 3));
  for (const Index rows : {1, 7, 50, 60})
    check_gradient("cross_entropy",
                   [&](const Pass&, const std::vector<Var>& x) {
                     return cross_entropy(x[0], weight, nullptr, targets, 1, rows);
                   },
                   {random_tensor({50, 5}, 1)}, {&weight});
}

TEST(CrossEntropyGradient, goes_on_from_a_table_that_is_a_variable) {
  const Tokens targets = with_gaps(random_tokens({50}, 11, 3));
  for (const Index rows : {0, 7})
    check_gradient("table_cross_entropy",
                   [&](const Pass&, const std::vector<Var>& x) {
                     return table_cross_entropy(x[0], x[1], targets, Real(0.7), rows);
                   },
                   {random_tensor({50, 5}, 1), random_tensor({11, 5}, 2)});
}

TEST(CrossEntropyGradient, reaches_a_table_that_is_also_the_input_embedding) {
  Parameter table({11, 6}, Init::zeros());
  const Tokens tokens = random_tokens({9}, 11, 1), targets = random_tokens({9}, 11, 2);
  check_gradient("cross_entropy",
                 [&](const Pass& pass, const std::vector<Var>& x) {
                   return cross_entropy(add(embedding(pass, tokens, table), x[0]), table, nullptr,
                                        targets);
                 },
                 {random_tensor({9, 6}, 3)}, {&table});
}

}  // namespace
}  // namespace weft::autograd::cross_entropy_gradient_test
