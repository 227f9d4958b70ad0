#include "experiments/evaluate/generation.h"

#include <limits>

#include "core/error.h"
#include "layers/model/make_model.h"
#include "layers/settings/default_plans.h"
#include "tests/layers/drawn_weights.h"

namespace weft::experiments {
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

}  // namespace
}  // namespace weft::experiments
