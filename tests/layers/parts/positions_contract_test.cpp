#include "core/error.h"
#include "layers/parts/positions.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::positions_contract_test {
namespace {

using tests::epsilon;
using tests::random_tensor;
using tests::same_bits;

constexpr Index width = 6;

// x: [2 T, W] with positions first .. first + T - 1 added.
std::vector<double> naive(const Tensor& x, const Weights& w, PositionKind kind, Index length,
                          Index first) {
  Grid y(x);
  for (Index r = 0; r < y.rows; ++r)
    for (Index c = 0; c < width; ++c)
      y.at(r, c) += naive_position(w, kind, first + r % length, c, width);
  return y.numbers;
}

Weights named(const Weights& own) {
  Weights w;
  for (const auto& [name, value] : own) w.emplace("positions." + name, value);
  return w;
}

TEST(Positions, add_a_learned_row_or_a_sinusoid_to_each_token) {
  for (const PositionKind kind : {PositionKind::learned, PositionKind::sinusoidal})
    for (const auto& [length, first] : {std::pair{1, 0}, {20, 0}, {7, 5}, {1, 19}}) {
      Positions positions(kind, width, 2, 20);
      const DrawnWeights drawn(positions);
      const Tensor x = random_tensor({2 * length, width}, 1);
      tests::expect_close(positions.add(Var(x), length, first).value().read(),
                          naive(x, named(drawn.weights()), kind, length, first), 4 * epsilon);
    }
}

TEST(Positions, leave_tokens_alone_where_attention_turns_them_or_nothing_does) {
  const Tensor x = random_tensor({10, width}, 1);
  for (const PositionKind kind : {PositionKind::rotary, PositionKind::none}) {
    const Positions positions(kind, width, 2, 20);
    EXPECT_TRUE(same_bits(positions.add(Var(x), 5, 0).value().read(), x.read()));
    EXPECT_EQ(positions.rotary() != nullptr, kind == PositionKind::rotary);
    EXPECT_FALSE(positions.longest());
  }
}

std::string refusal(const Positions& positions, Index length, Index first) {
  try {
    positions.add(Var(Tensor({length, width}, 0)), length, first);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Positions, learned_reach_as_far_as_their_table) {
  Positions positions(PositionKind::learned, width, 2, 20);
  const DrawnWeights drawn(positions);
  EXPECT_EQ(positions.longest(), 20);
  EXPECT_NO_THROW(positions.add(Var(Tensor({20, width}, 0)), 20, 0));
  for (const auto& [length, first] : {std::pair{21, 0}, {1, 20}, {5, 16}}) {
    const std::string message = refusal(positions, length, first);
    EXPECT_NE(message.find("reach to 20 tokens"), std::string::npos) << message;
    EXPECT_NE(message.find("asked for " + std::to_string(first + length)), std::string::npos);
    EXPECT_NE(message.find("larger data.length"), std::string::npos) << message;
  }
}

TEST(Positions, axial_ones_give_any_length_up_to_the_grid) {
  Positions positions(PositionKind::axial, width, 2, 20, {.n1 = 4, .n2 = 6, .d1 = 2, .d2 = 4});
  const DrawnWeights drawn(positions);
  EXPECT_EQ(positions.longest(), 24);
  for (const auto& [length, first] : {std::pair{1, 0}, {20, 0}, {24, 0}, {7, 17}, {1, 23}}) {
    const Tensor x = random_tensor({2 * length, width}, 1);
    tests::expect_close(positions.add(Var(x), length, first).value().read(),
                        naive(x, named(drawn.weights()), PositionKind::axial, length, first),
                        4 * epsilon);
  }
  for (const auto& [length, first] : {std::pair{25, 0}, {1, 24}}) {
    const std::string message = refusal(positions, length, first);
    EXPECT_NE(message.find("reach to 24 tokens"), std::string::npos) << message;
    EXPECT_NE(message.find("model.axial_shape"), std::string::npos) << message;
  }
  EXPECT_THROW(Positions(PositionKind::axial, width, 2, 20, {.n1 = 4, .n2 = 6, .d1 = 2, .d2 = 3}),
               core::Error);
}

TEST(Positions, axial_ones_pass_gradients) {
  Positions positions(PositionKind::axial, width, 2, 20, {.n1 = 4, .n2 = 6, .d1 = 2, .d2 = 4});
  DrawnWeights drawn(positions);
  tests::check_gradient(
      "axial", [&](const Pass&, const std::vector<Var>& in) { return positions.add(in[0], 7, 5); },
      {random_tensor({14, width}, 1)}, drawn.arena());
}

constexpr core::ImageForm small_image{.rows = 3, .columns = 2, .channels = 3};

TEST(Positions, of_an_image_add_up_its_row_its_column_and_its_channel) {
  for (const Index before : {0, 1}) {
    Positions positions(PositionKind::image, width, 2, 18 + before, {}, small_image);
    const DrawnWeights drawn(positions);
    const Weights w = drawn.weights();
    EXPECT_EQ(positions.longest(), 18 + before);
    for (const auto& [length, first] : {std::pair{1, 0}, {18, 0}, {5, 9}, {1, 17}}) {
      const Tensor x = random_tensor({2 * length, width}, 1);
      Grid y(x);
      for (Index r = 0; r < y.rows; ++r) {
        const Index place = first + r % length - before;
        if (place < 0) continue;
        for (Index c = 0; c < width; ++c)
          y.at(r, c) += w.at("rows").at(place / 6, c) + w.at("columns").at(place / 3 % 2, c) +
                        w.at("channels").at(place % 3, c);
      }
      tests::expect_close(positions.add(Var(x), length, first).value().read(), y.numbers,
                          4 * epsilon);
    }
    EXPECT_NE(refusal(positions, 2, 17 + before).find("no more values"), std::string::npos);
  }
  EXPECT_THROW(Positions(PositionKind::image, width, 2, 18), core::Error);
  EXPECT_THROW(Positions(PositionKind::image, width, 2, 17, {}, small_image), core::Error);
}

TEST(Positions, of_an_image_pass_gradients) {
  Positions positions(PositionKind::image, width, 2, 19, {}, small_image);
  DrawnWeights drawn(positions);
  tests::check_gradient(
      "image", [&](const Pass&, const std::vector<Var>& in) { return positions.add(in[0], 9, 0); },
      {random_tensor({18, width}, 1)}, drawn.arena());
}

TEST(Positions, sinusoids_go_on_past_the_length_of_training) {
  const Positions positions(PositionKind::sinusoidal, width, 2, 4);
  EXPECT_FALSE(positions.longest());
  const Tensor x = random_tensor({1, width}, 1);
  for (const Index first : {3, 4, 100, 1000})
    tests::expect_close(positions.add(Var(x), 1, first).value().read(),
                        naive(x, {}, PositionKind::sinusoidal, 1, first), 4 * epsilon);
}

TEST(Positions, pass_gradients_to_tokens_and_table) {
  for (const PositionKind kind : {PositionKind::learned, PositionKind::sinusoidal,
                                  PositionKind::rotary, PositionKind::none}) {
    Positions positions(kind, width, 2, 20);
    DrawnWeights drawn(positions);
    tests::check_gradient(
        std::string(position_name(kind)),
        [&](const Pass&, const std::vector<Var>& in) { return positions.add(in[0], 7, 5); },
        {random_tensor({14, width}, 1)}, drawn.arena());
  }
}

}  // namespace
}  // namespace weft::layers::positions_contract_test
