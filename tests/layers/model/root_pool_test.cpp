#include "core/error.h"
#include "layers/model/classifier.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers {
namespace {

constexpr Index vocabulary = 11, length = 9, classes = 3;
const std::vector<Index> real = {9, 4, 1};

ModelSettings classifying(Pool pool, bool star) {
  ModelSettings settings = small_settings();
  settings.task = Task::classify;
  settings.pool = pool;
  settings.head = ClassHeadKind::linear;
  settings.causal = false;
  if (star) settings.trunk = TrunkKind::star;
  return settings;
}

/// Attention of another kind that names the last real token as its root.
class LastIsRoot final : public Attention {
 public:
  explicit LastIsRoot(std::unique_ptr<Attention> inner) : inner_(std::move(inner)) {}
  std::vector<Projection> projections() const override { return inner_->projections(); }
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    return inner_->forward(pass, input);
  }
  std::unique_ptr<DecodeState> begin() const override { return inner_->begin(); }
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    inner_->step(state, input, out);
  }
  Cost cost(const Sequences& sequences) const override { return inner_->cost(sequences); }
  std::optional<Index> root_row(Index tokens) const override { return tokens - 1; }

 private:
  std::unique_ptr<Attention> inner_;
};

AttentionPlans rooted(const ModelSettings& settings) {
  AttentionPlans plans = default_plans(settings, length);
  for (auto& [name, groups] : plans)
    for (HeadGroupPlan& group : groups) {
      group.attention.traits.root = true;
      group.attention.make = [make = group.attention.make](const AttentionSite& site) {
        return std::make_unique<LastIsRoot>(make(site));
      };
    }
  return plans;
}

Reading padded_reading(std::uint64_t padding = 5) {
  std::vector<core::Token> ids;
  for (std::size_t row = 0; row < real.size(); ++row)
    for (Index t = 0; t < length; ++t) {
      const core::Rng from(t < real[row] ? 1 : padding);
      ids.push_back(core::Token(from.fold(row).below(std::uint64_t(t), vocabulary)));
    }
  Reading reading{core::Tokens({Index(real.size()), length}, ids), core::Tokens({3, 1}, {0, 2, 1})};
  reading.lengths = std::make_shared<const std::vector<Index>>(real);
  return reading;
}

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

TEST(RootPool, reads_the_row_that_attention_names_for_each_length) {
  for (const Pool pool : {Pool::root, Pool::max_root}) {
    const ModelSettings settings = classifying(pool, false);
    expect_pools(settings, rooted(settings));
  }
  const ModelSettings settings = classifying(Pool::root, false);
  Trunk trunk(settings, rooted(settings), vocabulary, length, false);
  const DrawnWeights<Trunk> drawn(trunk);
  const Reading reading = padded_reading();
  const auto [tokens, root] = trunk.encode(Pass(), reading.inputs, reading.lengths);
  for (std::size_t b = 0; b < real.size(); ++b)
    for (Index c = 0; c < 8; ++c)
      EXPECT_EQ(root.value().read()[std::size_t(Index(b) * 8 + c)],
                tokens.value().read()[std::size_t((Index(b) * length + real[b] - 1) * 8 + c)]);
}

TEST(RootPool, refuses_layers_in_which_no_row_stands_for_the_whole) {
  const ModelSettings settings = classifying(Pool::root, false);
  EXPECT_THROW(Classifier(settings, default_plans(settings, length), {vocabulary, length, classes}),
               core::Error);
  EXPECT_FALSE(has_root(default_plans(settings, length).at("dense")));
  EXPECT_TRUE(has_root(rooted(settings).at("dense")));
}

TEST(RootPoolGradient, agrees_with_differences) {
  for (const Pool pool : {Pool::root, Pool::max_root})
    for (const bool star : {true, false}) {
      SCOPED_TRACE(core::message_of(int(pool), star));
      const ModelSettings settings = classifying(pool, star);
      Classifier model(settings, star ? AttentionPlans{} : rooted(settings),
                       {vocabulary, length, classes});
      DrawnWeights<Classifier> drawn(model);
      const Reading reading = padded_reading();
      tests::check_gradient(
          "loss",
          [&](const Pass& pass, const std::vector<Var>&) {
            return model.loss(pass, reading, Real(0.7));
          },
          {}, drawn.arena());
    }
}

}  // namespace
}  // namespace weft::layers
