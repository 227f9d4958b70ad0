#include "experiments/evaluate/beam_search.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "experiments/evaluate/generation.h"
#include "layers/model/make_model.h"
#include "layers/settings/default_plans.h"
#include "tests/layers/drawn_weights.h"

namespace weft::experiments::beam_search_test {
namespace {

using core::Index;
using core::Token;
using Tokens = std::vector<Token>;

constexpr Index vocabulary = 4;
constexpr Token boundary = 0;

/// A tiny model with drawn weights, plain or reversible.
struct Sample {
  explicit Sample(bool reversible, const std::string& attention = "dense") {
    layers::ModelSettings settings;
    settings.task = layers::Task::seq2seq;
    settings.layers = 1;
    settings.width = 8;
    settings.heads = 2;
    settings.ff = 12;
    settings.reversible = reversible;
    settings.attention = {attention};
    settings.seq2seq.encoder_attention = {"dense"};
    settings.positions = layers::PositionKind::sinusoidal;
    const layers::ModelShape shape{.vocabulary = vocabulary, .length = 8, .source_length = 6};
    model = layers::make_model(settings, layers::default_plans(settings, 16), shape);
    drawn.emplace(*model);
  }
  const layers::Seq2SeqModel& get() const { return layers::as_seq2seq_model(*model, "test"); }

  std::unique_ptr<layers::Model> model;
  std::optional<layers::DrawnWeights<layers::Model>> drawn;
};

const Tokens source = {1, 3, 2, 2};

/// ln p of every token after each prefix, from a decoder that reads it anew.
std::vector<double> logs_after(const layers::Seq2SeqModel& model, const Tokens& prefix) {
  const auto decoder = model.begin(source);
  core::Tensor logits = model.step({{decoder.get(), boundary}});
  for (const Token token : prefix) logits = model.step({{decoder.get(), token}});
  double total = 0;
  for (const core::Real z : logits.read()) total += std::exp(double(z));
  std::vector<double> logs;
  for (const core::Real z : logits.read()) logs.push_back(double(z) - std::log(total));
  return logs;
}

/// Every target of at most `tokens` tokens that ends, tried one by one.
void search_all(const layers::Seq2SeqModel& model, const BeamOptions& options, Tokens prefix,
                double log_probability, BeamTarget& best) {
  const std::vector<double> logs = logs_after(model, prefix);
  const double whole = log_probability + logs[boundary];
  const double score =
      whole / std::pow((5 + double(prefix.size() + 1)) / 6, options.length_penalty);
  if (best.score == 0 || score > best.score) best = {prefix, whole, score, true};
  if (Index(prefix.size()) == options.tokens) return;
  prefix.push_back(0);
  for (Token token = 1; token < vocabulary; ++token) {
    prefix.back() = token;
    search_all(model, options, prefix, log_probability + logs[std::size_t(token)], best);
  }
}

TEST(BeamSearch, wide_enough_it_finds_what_exhaustive_search_finds) {
  for (const bool reversible : {false, true})
    for (const double penalty : {0.0, 0.8, 2.0}) {
      const Sample sample(reversible);
      const BeamOptions options{.beams = 81, .tokens = 4, .length_penalty = penalty};
      BeamTarget best;
      search_all(sample.get(), options, {}, 0, best);
      const auto found = beam_search(sample.get(), source, boundary, options);
      ASSERT_FALSE(found.empty());
      EXPECT_EQ(found[0].tokens, best.tokens) << reversible << ' ' << penalty;
      EXPECT_NEAR(found[0].score, best.score, 1e-5);
      EXPECT_NEAR(found[0].log_probability, best.log_probability, 1e-5);
      for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i].score, found[i - 1].score);
    }
}

TEST(BeamSearch, every_target_has_the_probability_that_the_model_gives_it) {
  const Sample sample(false);
  for (const BeamTarget& target :
       beam_search(sample.get(), source, boundary, {.beams = 3, .tokens = 6})) {
    double log_probability = 0;
    for (std::size_t i = 0; i < target.tokens.size(); ++i) {
      const Tokens prefix(target.tokens.begin(), target.tokens.begin() + std::ptrdiff_t(i));
      log_probability += logs_after(sample.get(), prefix)[std::size_t(target.tokens[i])];
    }
    if (target.ended) log_probability += logs_after(sample.get(), target.tokens)[boundary];
    EXPECT_NEAR(target.log_probability, log_probability, 1e-5);
  }
}

TEST(BeamSearch, one_beam_without_penalty_follows_the_likeliest_token_to_its_end) {
  for (const std::string attention : {"dense", "local", "longformer", "linear", "lsh", "gla"}) {
    const Sample sample(false, attention);
    const auto found =
        beam_search(sample.get(), source, boundary, {.beams = 1, .tokens = 7, .length_penalty = 0});
    const Generation greedy =
        generate(sample.get(), source, boundary, {.tokens = 7, .temperature = 0});
    if (found[0].ended && greedy.tokens.size() < 7) {
      EXPECT_LE(found[0].tokens.size(), greedy.tokens.size()) << attention;
      EXPECT_TRUE(std::equal(found[0].tokens.begin(), found[0].tokens.end(), greedy.tokens.begin()))
          << attention;
    }
  }
}

TEST(BeamSearch, of_a_model_whose_logits_are_no_numbers_is_an_error_and_no_target) {
  Sample it(false);
  std::ranges::fill(it.drawn->arena().values(), std::numeric_limits<core::Real>::quiet_NaN());
  try {
    beam_search(it.get(), source, boundary, {.beams = 2, .tokens = 4});
    ADD_FAILURE() << "a target was found";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::diverged);
  }
}

TEST(BeamSearch, refuses_no_beams_and_no_tokens) {
  const Sample sample(false);
  for (const BeamOptions& options :
       {BeamOptions{.beams = 0}, BeamOptions{.tokens = 0}, BeamOptions{.length_penalty = -1}})
    EXPECT_THROW(beam_search(sample.get(), source, boundary, options), core::Error);
}

}  // namespace
}  // namespace weft::experiments::beam_search_test
