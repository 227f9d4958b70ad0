#include <algorithm>
#include <cmath>

#include "layers/model/classifier.h"
#include "tests/layers/attention/attention_variants.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::classifier_contract_test {
namespace {

constexpr Index vocabulary = 11, classes = 3;

ModelSettings classifying(Pool pool, ClassHeadKind head = ClassHeadKind::mlp) {
  ModelSettings settings = small_settings();
  settings.task = Task::classify;
  settings.pool = pool;
  settings.head = head;
  settings.causal = false;
  return settings;
}

/// A classifier with drawn weights.
struct SampleClassifier {
  SampleClassifier(const ModelSettings& settings, Index longest)
      : SampleClassifier(settings, default_plans(settings, settings.places(longest)), longest) {}
  SampleClassifier(const ModelSettings& settings, const AttentionPlans& plans, Index longest)
      : model(settings, plans, {vocabulary, longest, classes}), drawn(model) {}

  Tensor logits(const Reading& reading) const { return model.logits(Pass(), reading); }

  Classifier model;
  DrawnWeights<Classifier> drawn;
};

/// Rows of `real` tokens, drawn once, and behind them up to `length` tokens drawn from `padding`.
Reading padded(const std::vector<Index>& real, Index length, std::uint64_t padding) {
  std::vector<core::Token> ids;
  for (std::size_t row = 0; row < real.size(); ++row)
    for (Index t = 0; t < length; ++t) {
      const core::Rng from(t < real[row] ? 1 : padding);
      ids.push_back(core::Token(from.fold(row).below(std::uint64_t(t), vocabulary)));
    }
  Reading reading{core::Tokens({Index(real.size()), length}, ids)};
  reading.targets = core::Tokens({Index(real.size()), 1}, std::vector<core::Token>(real.size(), 1));
  reading.lengths = std::make_shared<const std::vector<Index>>(real);
  return reading;
}

TEST(Classifier, the_head_reads_the_mean_of_real_tokens_or_the_token_before_them) {
  const std::vector<Index> real = {9, 4};
  for (const Pool pool : {Pool::cls, Pool::mean}) {
    const bool cls = pool == Pool::cls;
    SCOPED_TRACE(cls);
    const SampleClassifier it(classifying(pool, ClassHeadKind::linear), 9);
    Trunk trunk(classifying(pool), default_plans(classifying(pool), 10), vocabulary + cls, 9 + cls,
                false);
    const DrawnWeights<Trunk> drawn(trunk);  // the classifier's first parameters
    Reading reading = padded(real, 9, 5);
    std::vector<core::Token> ids;
    for (std::size_t row = 0; row < 2; ++row) {
      if (cls) ids.push_back(core::Token(vocabulary));
      const auto own = reading.inputs.read().subspan(9 * row, 9);
      ids.insert(ids.end(), own.begin(), own.end());
    }
    const auto lengths = std::make_shared<const std::vector<Index>>(
        std::vector<Index>{real[0] + cls, real[1] + cls});
    const Grid h(trunk.hidden(Pass(), core::Tokens({2, 9 + cls}, ids), lengths).value());
    const Grid weight = it.drawn.weights().at("head.classes.weight");
    const Grid bias = it.drawn.weights().at("head.classes.bias");
    std::vector<double> expected;
    for (Index row = 0; row < 2; ++row)
      for (Index c = 0; c < classes; ++c) {
        double logit = bias.at(0, c);
        const Index count = cls ? 1 : real[std::size_t(row)];
        for (Index t = 0; t < count; ++t)
          for (Index i = 0; i < h.cols; ++i)
            logit += h.at(row * (9 + cls) + t, i) * weight.at(c, i) / double(count);
        expected.push_back(logit);
      }
    tests::expect_close(it.logits(reading).read(), expected, 1000 * tests::epsilon);
    EXPECT_EQ(it.model.matrix_weights(), trunk.layer_weights() + 8 * classes);
  }
}

TEST(Classifier, scores_what_its_logits_say) {
  for (const ClassHeadKind head : {ClassHeadKind::mlp, ClassHeadKind::linear})
    for (const Pool pool : {Pool::cls, Pool::mean}) {
      const SampleClassifier it(classifying(pool, head), 12);
      Reading reading = padded({12, 3, 7, 1}, 12, 5);
      reading.targets = core::Tokens({4, 1}, {0, 2, core::no_target, 1});
      const Tensor logits = it.logits(reading);
      const TokenScores scores = it.model.score(Pass(), reading);
      double total = 0;
      for (std::size_t row = 0; row < 4; ++row) {
        const auto z = logits.read().subspan(row * classes, classes);
        const core::Token target = reading.targets.read()[row];
        if (target == core::no_target) continue;
        double sum = 0;
        for (const Real value : z) sum += std::exp(double(value));
        const double nats = std::log(sum) - double(z[std::size_t(target)]);
        EXPECT_NEAR(scores.nats[row], nats, 1e-5);
        EXPECT_EQ(scores.correct[row],
                  std::ranges::max_element(z) - z.begin() == std::ptrdiff_t(target));
        total += nats;
      }
      EXPECT_NEAR(core::scalar(it.model.loss(Pass(), reading, 1).value()), total / 3, 1e-5);
    }
}

TEST(Classifier, knows_a_mechanism_that_reads_padding_like_anything_else) {
  const HeadGroupPlan aware = default_plans(classifying(Pool::cls), 9).at("dense")[0];
  HeadGroupPlan unaware = aware;
  unaware.attention.traits.padding = false;
  EXPECT_TRUE(takes_padding({aware}));
  EXPECT_FALSE(takes_padding({aware, unaware}));
}

struct Form {
  std::string name;
  AttentionPlan plan;
};

/// Every mechanism and variant that reads both ways and takes key lengths.
std::vector<Form> padding_forms(const AttentionSite& site) {
  std::vector<Form> forms;
  const auto add = [&](const std::string& name, std::string_view kind, tests::Settings given) {
    tests::GivenFields fields(std::move(given));
    const AttentionPlan plan = find_attention(kind)->configure(fields, site);
    if (plan.traits.bidirectional && plan.traits.padding) forms.push_back({name, plan});
  };
  for (const AttentionEntry& entry : attention_registry())
    add(std::string(entry.kind), entry.kind, {});
  for (const AttentionVariant& variant : attention_variants())
    add(variant.name, variant.kind, variant.settings);
  return forms;
}

TEST(Classifier, logits_do_not_depend_on_padding_with_any_attention_that_takes_it) {
  constexpr Index shorter = 70, longer = 100;
  const std::vector<Index> real = {70, 33, 1, 64};
  int tried = 0;
  for (const Pool pool : {Pool::cls, Pool::mean}) {
    ModelSettings settings = classifying(pool);
    AttentionSite site = settings.site(settings.places(longer));
    for (const Form& form : padding_forms(site)) {
      if (pool == Pool::mean && form.name != "dense") continue;  // the head's part is the same
      SCOPED_TRACE(form.name + (pool == Pool::cls ? ", cls" : ", mean"));
      settings.attention = {form.name};
      const AttentionPlans plans{{form.name, {{form.plan, settings.heads}}}};
      const SampleClassifier it(settings, plans, longer);
      const Tensor reference = it.logits(padded(real, longer, 5));
      EXPECT_TRUE(tests::same_bits(it.logits(padded(real, longer, 6)).read(), reference.read()));
      tests::expect_close(it.logits(padded(real, shorter, 6)).read(),
                          tests::in_double(reference.read()), 100 * tests::epsilon);
      ++tried;
    }
  }
  EXPECT_GE(tried, 15);
}

}  // namespace
}  // namespace weft::layers::classifier_contract_test
