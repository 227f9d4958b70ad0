#include "core/error.h"
#include "tests/layers/model/rooted_classifier.h"

namespace weft::layers::root_pool_contract_test {
namespace {

using namespace roots;

/// What the head reads, and the trunk's rows behind it.
void expect_pools(const ModelSettings& settings, const AttentionPlans& plans) {
  Classifier model(settings, plans, {vocabulary, length, classes});
  const DrawnWeights<Classifier> drawn(model);
  Trunk trunk(settings, plans, vocabulary, length, false);
  const DrawnWeights<Trunk> same(trunk);  // the classifier's first parameters
  const Reading reading = padded_reading();
  const auto [tokens, root] = trunk.encode(Pass(), reading.inputs, reading.lengths);
  const Grid h(tokens.value()), s(root.value());
  const Grid weight = drawn.weights().at("head.classes.weight");
  const Grid bias = drawn.weights().at("head.classes.bias");
  std::vector<double> expected;
  for (Index b = 0; b < Index(real.size()); ++b)
    for (Index c = 0; c < classes; ++c) {
      double logit = bias.at(0, c);
      for (Index i = 0; i < h.cols; ++i) {
        double largest = h.at(b * length, i);
        for (Index t = 1; t < real[std::size_t(b)]; ++t)
          largest = std::max(largest, h.at(b * length + t, i));
        const double read = settings.pool == Pool::root ? s.at(b, i) : (largest + s.at(b, i)) / 2;
        logit += read * weight.at(c, i);
      }
      expected.push_back(logit);
    }
  tests::expect_close(model.logits(Pass(), reading).read(), expected, 2000 * tests::epsilon);
  tests::expect_close(model.logits(Pass(), padded_reading(77)).read(), expected,
                      2000 * tests::epsilon);
}

TEST(RootPool, reads_the_relay_of_a_star_alone_or_with_the_largest_of_each_column) {
  for (const Pool pool : {Pool::root, Pool::max_root}) expect_pools(classifying(pool, true), {});
}

TEST(RootPool, reads_the_row_that_attention_has_for_the_whole_sequence) {
  for (const Pool pool : {Pool::root, Pool::max_root}) {
    const ModelSettings settings = classifying(pool, false);
    expect_pools(settings, default_plans(settings, length));
  }
  const ModelSettings settings = classifying(Pool::root, false);
  Trunk trunk(settings, default_plans(settings, length), vocabulary, length, false);
  const DrawnWeights<Trunk> drawn(trunk);
  const Reading reading = padded_reading();
  const auto [tokens, root] = trunk.encode(Pass(), reading.inputs, reading.lengths);
  for (std::size_t b = 0; b < real.size(); ++b) {
    const core::Tensor first = tokens.value().rows(Index(b) * length, 1);
    const bool equal = std::ranges::equal(first.read(), root.value().rows(Index(b), 1).read());
    EXPECT_EQ(equal, real[b] == 1) << "a tree over one token is that token: sequence " << b;
  }
}

TEST(RootPool, refuses_layers_in_which_no_row_stands_for_the_whole) {
  ModelSettings settings = classifying(Pool::root, false);
  EXPECT_TRUE(has_root(default_plans(settings, length).at("bp")));
  settings.attention = {"dense"};
  EXPECT_THROW(Classifier(settings, default_plans(settings, length), {vocabulary, length, classes}),
               core::Error);
  EXPECT_FALSE(has_root(default_plans(settings, length).at("dense")));
}

}  // namespace
}  // namespace weft::layers::root_pool_contract_test
