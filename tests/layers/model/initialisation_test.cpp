// The rules written above LanguageModel.
#include <cmath>

#include "tests/layers/model/sample_model.h"

namespace weft::layers::initialisation_test {
namespace {

struct Spread {
  double mean = 0, deviation = 0;
};

Spread spread_of(const Grid& x) {
  Spread s;
  for (const double v : x.numbers) s.mean += v / double(x.numbers.size());
  for (const double v : x.numbers)
    s.deviation += (v - s.mean) * (v - s.mean) / double(x.numbers.size());
  s.deviation = std::sqrt(s.deviation);
  return s;
}

Weights initial(const ModelSettings& settings, std::uint64_t seed) {
  LanguageModel model(settings, default_plans(settings, 128), 300, 128);
  DrawnWeights drawn(model);
  drawn.arena().initialise(core::Rng(seed));
  return drawn.weights();
}

double expected_deviation(const std::string& name, Index layers) {
  const bool residual =
      name.ends_with("attention.output.weight") || name.ends_with("feed_forward.out.weight");
  return residual ? 0.02 / std::sqrt(2.0 * double(layers)) : 0.02;
}

TEST(Initialisation, follows_its_documented_rules) {
  for (const Index layers : {1, 6})
    for (const bool tie : {true, false}) {
      ModelSettings settings;
      settings.layers = layers;
      settings.width = 64;
      settings.tie = tie;
      for (const auto& [name, value] : initial(settings, 1)) {
        SCOPED_TRACE(name);
        const Spread s = spread_of(value);
        if (name.ends_with(".bias")) {
          EXPECT_EQ(s.mean, 0);
          EXPECT_EQ(s.deviation, 0);
        } else if (name.find("norm.weight") != std::string::npos) {
          EXPECT_EQ(s.mean, 1);
          EXPECT_EQ(s.deviation, 0);
        } else {
          const double deviation = expected_deviation(name, layers);
          EXPECT_NEAR(s.deviation, deviation, 0.05 * deviation);
          EXPECT_NEAR(s.mean, 0, 5 * deviation / std::sqrt(double(value.numbers.size())));
        }
      }
    }
}

TEST(Initialisation, is_the_same_for_the_same_seed_only) {
  const ModelSettings settings;
  const Weights first = initial(settings, 1), again = initial(settings, 1),
                other = initial(settings, 2);
  for (const auto& [name, value] : first) {
    EXPECT_EQ(value.numbers, again.at(name).numbers) << name;
    if (expected_deviation(name, 1) > 0 && spread_of(value).deviation > 0) {
      EXPECT_NE(value.numbers, other.at(name).numbers) << name;
    }
  }
}

TEST(Initialisation, draws_each_parameter_from_a_stream_of_its_own) {
  const Weights w = initial(ModelSettings{}, 1);
  EXPECT_NE(w.at("layers.0.attention.projection.weight").numbers,
            w.at("layers.1.attention.projection.weight").numbers);
}

}  // namespace
}  // namespace weft::layers::initialisation_test
