// Models of images: values as numbers, mixtures of logistics, the image's row as a stride.
#include <cmath>

#include "core/counters.h"
#include "core/parallel.h"
#include "layers/model/language_model.h"
#include "layers/output/mixture_output.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::image_model_contract_test {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr core::ImageForm form{.rows = 4, .columns = 3, .channels = 3, .levels = 10};

ModelSettings image_settings(OutputKind output) {
  ModelSettings settings;
  settings.layers = 2;
  settings.width = 12;
  settings.heads = 2;
  settings.positions = PositionKind::image;
  settings.output = output;
  settings.output_mixtures = 3;
  settings.tie = output == OutputKind::dense;
  settings.attention = {"strided", "dense"};
  settings.images = true;
  return settings;
}

struct ImageModel {
  explicit ImageModel(const ModelSettings& settings)
      : model(settings, sample_plans(settings), form.levels + 1, form.values(), false, form),
        drawn(model) {}

  /// [begin, x_0 .. x_{D-2}] and x_0 .. x_{D-1}
  Reading reading(Index batch, std::uint64_t seed) const {
    const core::Tokens x = tests::random_tokens({batch, form.values()}, form.levels, seed);
    std::vector<core::Token> inputs(x.read().begin(), x.read().end());
    for (Index b = 0; b < batch; ++b) {
      const auto row = inputs.begin() + b * form.values();
      std::rotate(row, row + form.values() - 1, row + form.values());
      *row = core::Token(form.levels);
    }
    return {{core::Tokens(x.shape(), std::move(inputs)), x}};
  }

  LanguageModel model;
  DrawnWeights<LanguageModel> drawn;
};

const std::vector<OutputKind> outputs = {OutputKind::dense, OutputKind::logistics};

TEST(ImageModel, decodes_what_it_computes_at_once) {
  for (const OutputKind output : outputs) {
    const ImageModel it(image_settings(output));
    const core::Tokens inputs = it.reading(1, 1).inputs;
    const Tensor whole = it.model.logits(it.model.hidden(Pass(core::Rng(1)), inputs).value());
    auto states = it.model.begin();
    for (Index t = 0; t < form.values(); ++t) {
      const Tensor logits = it.model.step(states, inputs.read()[std::size_t(t)]);
      for (Index v = 0; v < form.levels; ++v)
        ASSERT_NEAR(logits.read()[std::size_t(v)],
                    whole.read()[std::size_t(t * (form.levels + 1) + v)], in_double ? 1e-9 : 1e-3)
            << "token " << t;
    }
    EXPECT_EQ(it.model.longest(), form.values());
  }
}

TEST(ImageModel, passes_gradients_to_all_its_parameters) {
  for (const OutputKind output : outputs) {
    ImageModel it(image_settings(output));
    const Reading reading = it.reading(2, 1);
    tests::check_gradient(
        "image model",
        [&](const Pass& pass, const std::vector<Var>&) { return it.model.loss(pass, reading, 1); },
        {}, it.drawn.arena());
  }
}

TEST(ImageModel, logits_before_a_changed_value_keep_their_bits) {
  for (const OutputKind output : outputs) {
    const ImageModel it(image_settings(output));
    const core::Tokens inputs = it.reading(1, 1).inputs;
    std::vector<core::Token> ids(inputs.read().begin(), inputs.read().end());
    constexpr std::size_t changed = 20;
    ids[changed] = (ids[changed] + 1) % core::Token(form.levels);
    const auto logits = [&](const core::Tokens& x) {
      return it.model.logits(it.model.hidden(Pass(core::Rng(1)), x).value());
    };
    const Tensor a = logits(inputs), b = logits(core::Tokens(inputs.shape(), ids));
    const std::size_t kept = changed * std::size_t(form.levels + 1);
    EXPECT_TRUE(tests::same_bits(a.read().first(kept), b.read().first(kept)));
    EXPECT_FALSE(tests::same_bits(a.read(), b.read()));
  }
}

TEST(ImageModel, any_number_of_threads_gives_the_same_bits) {
  for (const OutputKind output : outputs) {
    ImageModel it(image_settings(output));
    const auto gradients = [&](Index threads) {
      core::set_threads(threads);
      it.drawn.arena().zero_gradients();
      autograd::Tape tape;
      autograd::Journal journal;
      tape.sweep(it.model.loss(Pass(tape, core::Rng(3), journal), it.reading(40, 1), 1));
      const auto all = it.drawn.arena().gradients();
      return std::vector<Real>(all.begin(), all.end());
    };
    const auto one = gradients(1);
    EXPECT_TRUE(tests::same_bits(std::span<const Real>(one), std::span<const Real>(gradients(3))));
    core::set_threads(0);
  }
}

TEST(ImageModel, reads_values_as_numbers_beside_their_rows_of_the_table) {
  ModelSettings both = image_settings(OutputKind::dense), table = both;
  table.pixel_input = PixelInput::table;
  ImageModel with(both), without(table);
  Index parameters = 0;
  for (const auto& [name, parameter] : with.drawn.inventory().parameters()) {
    if (name != "pixels.weight") continue;
    ++parameters;
    EXPECT_EQ(parameter->shape(), (core::Shape{12}));
  }
  EXPECT_EQ(parameters, 1);
  EXPECT_EQ(with.drawn.arena().count(), without.drawn.arena().count() + 12);
}

TEST(PixelNumber, is_minus_one_for_the_least_value_and_one_for_the_largest_and_none_for_others) {
  PixelNumber number(10, 2, Init::ones());
  DrawnWeights drawn(number);
  const std::vector<double> w = drawn.weights().at("weight").numbers;
  const Tensor y = number.add(Var(Tensor({4, 2}, 0)), core::Tokens({4}, {0, 9, 10, 3})).value();
  const std::vector<double> expected{-w[0], -w[1], w[0], w[1], 0, 0, -w[0] / 3, -w[1] / 3};
  tests::expect_close(y.read(), expected, 4 * tests::epsilon);
}

TEST(Strided, takes_the_row_of_an_image_as_its_stride) {
  const ModelSettings settings = [] {
    ModelSettings s = image_settings(OutputKind::dense);
    s.attention = {"strided"};
    return s;
  }();
  const ImageModel it(settings);
  // A row has 9 values: the last 9 keys, and every ninth before.
  Index pairs = 0;
  for (Index t = 0; t < form.values(); ++t)
    for (Index j = 0; j <= t; ++j) pairs += t - j < 9 || (t - j) % 9 == 0;
  const Index before = core::counters().scored_pairs;
  it.model.hidden(Pass(core::Rng(1)), it.reading(1, 1).inputs);
  EXPECT_EQ(core::counters().scored_pairs - before, pairs * settings.layers * settings.heads);
}

TEST(MixtureOutput, gives_probabilities_that_sum_to_one_and_that_its_loss_charges) {
  MixtureOutput output(16, 5, 4, Init::zeros());
  DrawnWeights drawn(output, 1);
  const Tensor h = tests::random_tensor({3, 5}, 1);
  const Tensor logits = output.logits(h, 17);
  for (Index r = 0; r < 3; ++r) {
    double sum = 0;
    for (Index v = 0; v < 17; ++v) sum += std::exp(double(logits.read()[std::size_t(r * 17 + v)]));
    EXPECT_NEAR(sum, 1, in_double ? 1e-12 : 1e-5);
  }
  const core::Tokens targets({3}, {0, 7, 15});
  const TokenScores scores = output.score(h, targets);
  double mean = 0;
  for (Index r = 0; r < 3; ++r) {
    const auto own = logits.read().subspan(std::size_t(r * 17), 16);
    const Real chosen = own[std::size_t(targets.read()[std::size_t(r)])];
    EXPECT_NEAR(scores.nats[std::size_t(r)], -chosen, 1e-4);
    EXPECT_EQ(scores.correct[std::size_t(r)], chosen == *std::ranges::max_element(own));
    mean -= double(chosen) / 3;
  }
  EXPECT_NEAR(core::scalar(output.loss(Var(h), targets, 1).value()), mean, 1e-4);
}

}  // namespace
}  // namespace weft::layers::image_model_contract_test
