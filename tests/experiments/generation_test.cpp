#include "experiments/evaluate/generation.h"

#include <limits>
#include <set>

#include "core/counters.h"
#include "core/error.h"
#include "experiments/evaluate/image_samples.h"
#include "layers/model/make_model.h"
#include "layers/settings/default_plans.h"
#include "tests/layers/drawn_weights.h"

namespace weft::experiments::generation_test {
namespace {

using core::Index;
using core::Token;

constexpr Index vocabulary = 9;

struct Sample {
  explicit Sample(layers::Task task, const std::string& positions = "sinusoidal") {
    layers::ModelSettings settings;
    settings.task = task;
    settings.layers = 1;
    settings.width = 8;
    settings.heads = 2;
    settings.ff = 12;
    settings.positions =
        positions == "learned" ? layers::PositionKind::learned : layers::PositionKind::sinusoidal;
    const layers::ModelShape shape{.vocabulary = vocabulary, .length = 10, .source_length = 6};
    model = layers::make_model(settings, layers::default_plans(settings, 16), shape);
    drawn.emplace(*model);
  }
  std::unique_ptr<layers::Model> model;
  std::optional<layers::DrawnWeights<layers::Model>> drawn;
};

/// Prompts of several lengths, two of them the same, each drawn in its own way.
std::vector<GenerationTask> tasks() {
  std::vector<GenerationTask> all;
  for (std::uint64_t seed = 1; seed <= 7; ++seed) {
    std::vector<Token> prompt;
    for (std::uint64_t t = 0; t < 1 + seed / 2; ++t) prompt.push_back(Token((seed / 2 + t) % 9));
    all.push_back({prompt,
                   {.tokens = Index(3 + seed % 4),
                    .temperature = seed == 3 ? 0.0 : 1.0,
                    .top_k = 5,
                    .seed = seed}});
  }
  return all;
}

TEST(Generation, logits_that_are_no_numbers_are_an_error_and_no_token) {
  const core::Real infinity = std::numeric_limits<core::Real>::infinity();
  const core::Real nan = std::numeric_limits<core::Real>::quiet_NaN();
  const core::Rng stream(1);
  const auto drawn = [&](const std::vector<core::Real>& logits, double temperature) {
    core::Tensor all({Index(logits.size())}, 0);
    std::ranges::copy(logits, all.write().begin());
    return draw_token(all, {.temperature = temperature}, stream, 0);
  };
  for (const double temperature : {0.0, 1.0}) {
    for (const std::vector<core::Real>& none : {std::vector<core::Real>{0, nan, 1},
                                                {nan, 0, 1},
                                                {0, infinity, 1},
                                                {-infinity, -infinity, -infinity}}) {
      try {
        drawn(none, temperature);
        ADD_FAILURE() << "a token was drawn";
      } catch (const core::Error& error) {
        EXPECT_EQ(error.fault(), core::Fault::diverged);
      }
    }
    EXPECT_EQ(drawn({-infinity, 3, -infinity}, temperature), 1);
  }
}

TEST(Generation, of_several_continuations_together_is_that_of_each_alone) {
  const Sample it(layers::Task::language);
  const auto& model = layers::as_language_model(*it.model, "test");
  const auto together = generate(model, tasks());
  ASSERT_EQ(together.size(), tasks().size());
  for (std::size_t i = 0; i < together.size(); ++i)
    EXPECT_EQ(together[i].tokens, generate(model, tasks()[i].prompt, tasks()[i].options).tokens);
}

TEST(Generation, of_several_targets_together_is_that_of_each_alone) {
  const Sample it(layers::Task::seq2seq);
  const auto& model = layers::as_seq2seq_model(*it.model, "test");
  const auto together = generate(model, tasks(), 0);
  ASSERT_EQ(together.size(), tasks().size());
  for (std::size_t i = 0; i < together.size(); ++i)
    EXPECT_EQ(together[i].tokens, generate(model, tasks()[i].prompt, 0, tasks()[i].options).tokens);
}

TEST(Generation, ends_each_sequence_where_its_own_positions_end) {
  const Sample it(layers::Task::language, "learned");
  const auto& model = layers::as_language_model(*it.model, "test");
  const GenerationOptions options{.tokens = 8, .temperature = 0};
  const auto made = generate(model, {{{1, 2}, options}, {{1, 2, 3, 4, 5, 6, 7}, options}});
  EXPECT_EQ(made[0].tokens.size(), 8u);
  EXPECT_FALSE(made[0].positions_ended);
  EXPECT_EQ(made[1].tokens.size(), 4u);
  EXPECT_TRUE(made[1].positions_ended);
}

TEST(Generation, of_nothing_is_nothing) {
  const Sample it(layers::Task::seq2seq);
  EXPECT_TRUE(
      generate(layers::as_seq2seq_model(*it.model, "test"), std::vector<GenerationTask>(), Token(0))
          .empty());
}

/// What a piece of work reads of the weights.
Index weight_bytes_of(const std::function<void()>& work) {
  const Index before = core::counters().weight_bytes;
  work();
  return core::counters().weight_bytes - before;
}

TEST(Generation, of_samples_reads_the_prompt_once_and_each_weight_once_for_a_token_of_all) {
  const Sample language(layers::Task::language), seq2seq(layers::Task::seq2seq);
  const GenerationOptions options{.tokens = 6, .temperature = 2, .seed = 3};
  for (const Sample* it : {&language, &seq2seq}) {
    const std::optional<Token> boundary = it == &seq2seq ? std::optional<Token>(0) : std::nullopt;
    const auto tasks = samples_of({4, 2, 7}, options, 5);
    std::vector<Generation> together;
    Generation alone;
    const Index bytes = weight_bytes_of([&] { together = answer(*it->model, boundary, tasks); });
    ASSERT_EQ(together.size(), tasks.size());
    Index most = 0;  // of one that no boundary ends early
    std::set<std::vector<Token>> different;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_EQ(tasks[i].options.seed, 3 + i);
      most = std::max(most, weight_bytes_of([&] {
                        alone = answer(*it->model, boundary, tasks[i].prompt, tasks[i].options);
                      }));
      EXPECT_EQ(together[i].tokens, alone.tokens);
      different.insert(together[i].tokens);
    }
    EXPECT_GT(most, 0);
    EXPECT_EQ(bytes, most);
    EXPECT_GT(different.size(), 3u);
  }
}

TEST(Generation, of_more_sequences_than_fit_at_once_keeps_their_order) {
  const Sample it(layers::Task::language);
  const auto& model = layers::as_language_model(*it.model, "test");
  const GenerationOptions options{.tokens = 2, .temperature = 2};
  const auto tasks = samples_of({4, 2}, options, 130);
  const auto all = generate(model, tasks);
  ASSERT_EQ(all.size(), 130u);
  for (const std::size_t i : {0, 63, 64, 129})
    EXPECT_EQ(all[i].tokens, generate(model, {4, 2}, tasks[i].options).tokens) << i;
}

TEST(Generation, of_images_together_is_that_of_each_alone_and_reads_the_weights_once) {
  const Sample it(layers::Task::language);
  const auto& model = layers::as_language_model(*it.model, "test");
  const core::ImageForm form{.rows = 2, .columns = 3, .channels = 1, .levels = vocabulary - 1};
  const GenerationOptions options{.temperature = 2, .seed = 5};
  std::vector<Values> drawn;
  const auto draw = [&](std::size_t count) {
    return weight_bytes_of(
        [&] { drawn = complete_images(model, form, std::vector<Values>(count), options); });
  };
  const Index one = draw(1);
  const std::vector<Values> first = drawn;
  EXPECT_EQ(draw(4), one);
  EXPECT_EQ(drawn[0], first[0]);
  EXPECT_NE(drawn[1], first[0]);
  const std::vector<Values> known{{1, 2}, {}, {3, 1, 4, 1, 5, 2}, {7}};
  const auto completed = complete_images(model, form, known, options);
  for (std::size_t i = 0; i < known.size(); ++i) {
    GenerationOptions own = options;
    own.seed += i;
    EXPECT_EQ(completed[i], complete_images(model, form, {known[i]}, own)[0]);
    EXPECT_EQ(completed[i].size(), 6u);
    EXPECT_TRUE(std::equal(known[i].begin(), known[i].end(), completed[i].begin()));
  }
}

}  // namespace
}  // namespace weft::experiments::generation_test
