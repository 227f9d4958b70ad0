#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::span_nats_test {
namespace {

const core::Tokens document({1, 2}, {2, 4});

double nats_of(const Tensor& logits, std::vector<core::Token> answers) {
  const Index listed = Index(answers.size()) / 2;
  const core::Tokens all({1, listed, 2}, std::move(answers));
  return double(core::scalar(span_nats(Var(logits), document, all).value()));
}

TEST(SpanNats, one_answer_gives_the_two_cross_entropies) {
  const Tensor z = tests::random_tensor({6, 2}, 1);
  double expected = 0;
  for (const auto& [column, target] : {std::pair{0, 3}, {1, 4}}) {
    double total = 0;
    for (const int t : {0, 2, 3, 4}) total += std::exp(double(z.data()[2 * t + column]));
    expected += std::log(total) - double(z.data()[2 * target + column]);
  }
  EXPECT_NEAR(nats_of(z, {3, 4}), expected, 1e-5);
}

TEST(SpanNats, several_answers_add_their_probabilities) {
  const Tensor z = tests::random_tensor({6, 2}, 2);
  const double one = std::exp(-nats_of(z, {2, 2})), other = std::exp(-nats_of(z, {0, 0}));
  EXPECT_NEAR(nats_of(z, {2, 2, -1, -1, 0, 0}), -std::log(one + other), 1e-5);
  EXPECT_EQ(nats_of(z, {-1, -1, -1, -1}), 0);
}

TEST(SpanNats, does_not_depend_on_positions_outside_the_document) {
  Tensor z = tests::random_tensor({6, 2}, 3);
  const double before = nats_of(z, {3, 3});
  for (const std::size_t i : {2, 3, 10, 11}) z.write()[i] = 50;
  EXPECT_EQ(nats_of(z, {3, 3}), before);
}

TEST(SpanNats, refuses_answers_and_documents_that_do_not_fit) {
  const Tensor z({6, 2}, 1);
  EXPECT_THROW(nats_of(z, {1, 3}), core::Error);
  EXPECT_THROW(nats_of(z, {4, 3}), core::Error);
  EXPECT_THROW(nats_of(z, {3, 5}), core::Error);
  const core::Tokens answer({1, 1, 2}, {0, 0});
  for (const auto& bounds : {std::vector<core::Token>{0, 2}, {3, 2}, {2, 6}})
    EXPECT_THROW(span_nats(Var(z), core::Tokens({1, 2}, bounds), answer), core::Error);
}

}  // namespace
}  // namespace weft::autograd::span_nats_test
