#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::embedding_test {
namespace {

using core::Tokens;
using tests::random_tokens;

TEST(Embedding, copies_rows_and_adds_their_gradients_up) {
  struct Case {
    Shape shape;
    Index vocabulary, width;
  };
  for (const auto& [shape, vocabulary, width] :
       {Case{{1}, 3, 1}, {{2, 7}, 5, 9}, {{3, 200}, 4, 150}}) {
    Parameter table({vocabulary, width}, Init::zeros());
    const tests::DrawnParameters drawn({&table});
    const Tokens tokens = random_tokens(shape, vocabulary, 1);
    const auto pulled = tests::pull_back(
        [&](const Pass& pass, const std::vector<Var>&) { return embedding(pass, tokens, table); },
        {});
    EXPECT_EQ(pulled.value.shape().rank(), shape.rank() + 1);
    std::vector<double> dtable(std::size_t(vocabulary * width), 0.0);
    for (Index i = 0; i < tokens.size(); ++i)
      for (Index j = 0; j < width; ++j) {
        const Index entry = tokens.read()[std::size_t(i)] * width + j;
        ASSERT_EQ(pulled.value.data()[i * width + j], table.data()[entry]);
        dtable[std::size_t(entry)] += pulled.upstream.data()[i * width + j];
      }
    tests::expect_close(table.gradient(), dtable, 1e-5);
  }
}

TEST(Embedding, records_nothing_without_a_tape) {
  Parameter table({4, 3}, Init::zeros());
  const tests::DrawnParameters drawn({&table});
  EXPECT_EQ(embedding(Pass(), Tokens({2}, {0, 3}), table).tape(), nullptr);
}

TEST(Embedding, says_which_token_is_outside_the_vocabulary) {
  Parameter table({4, 3}, Init::zeros());
  const tests::DrawnParameters drawn({&table});
  for (const core::Token bad : {4, -1}) try {
      embedding(Pass(), Tokens({3}, {0, 1, bad}), table);
      FAIL() << "accepted " << bad;
    } catch (const core::Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(bad) + " at place 2"),
                std::string::npos)
          << error.what();
    }
}

}  // namespace
}  // namespace weft::autograd::embedding_test
