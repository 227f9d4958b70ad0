#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::embedding_gradient_test {
namespace {

using core::Tokens;
using tests::check_gradient;
using tests::random_tokens;

void check(const Tokens& tokens, Index vocabulary, Index width) {
  Parameter table({vocabulary, width}, Init::zeros());
  check_gradient(
      "embedding",
      [&](const Pass& pass, const std::vector<Var>&) { return embedding(pass, tokens, table); }, {},
      {&table});
}

TEST(EmbeddingGradient, agrees_with_differences) {
  check(random_tokens({1}, 3, 1), 3, 1);
  check(random_tokens({7}, 11, 1), 11, 5);
  check(random_tokens({2, 3}, 11, 1), 11, 17);
  check(random_tokens({2, 3, 4}, 5, 1), 5, 3);
}

TEST(EmbeddingGradient, adds_up_repeated_tokens) {
  check(Tokens({6}, {2, 2, 0, 2, 1, 2}), 4, 5);
  check(random_tokens({700}, 3, 1), 3, 150);
}

}  // namespace
}  // namespace weft::autograd::embedding_gradient_test
