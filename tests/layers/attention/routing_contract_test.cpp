// What clustered attention computes, item by item.
#include <numeric>

#include "autograd/ops.h"
#include "layers/attention/clusters/nearest_tokens.h"
#include "tests/closeness.h"
#include "tests/layers/attention/naive_routing.h"

namespace weft::layers::routing_contract_test {
namespace {

using tests::same_bits;

constexpr double close = sizeof(Real) == sizeof(double) ? 1e-12 : 1e-5;
constexpr Index H = 2, D = 4;

tests::Settings settings(const std::string& clusters, Index window, tests::Settings more = {}) {
  more.insert({{"clusters", clusters}, {"chunk", window}});
  return more;
}

// A sample whose centroids stand as if they had been trained.
struct Routed : AttentionSample {
  Routed(Index length, const tests::Settings& given, bool causal = true)
      : AttentionSample("routing", Sequences::self(1, length, causal), H, D, given) {
    autograd::Inventory inventory;
    const_cast<Attention&>(attention()).visit(inventory);
    state = inventory.states().at(0).state;
    for (std::size_t i = std::size_t(D + 1); i < state->writable().size(); i += D + 2)
      state->writable()[i] = 0;
  }
  // Calls body(row of the state), [D + 2].
  void for_each_cluster(const std::function<void(Real*)>& body) {
    for (std::size_t i = 0; i < state->writable().size(); i += D + 2)
      body(state->writable().data() + i);
  }
  autograd::State* state;
};

// Attention to every earlier token with shared keys.
std::vector<double> dense(const Routed& it) {
  const NaiveListed naive{it.sequences(), H, D, 1 / std::sqrt(double(D)), [](Index, Index i) {
                            std::vector<Index> keys(static_cast<std::size_t>(i));
                            std::iota(keys.begin(), keys.end(), Index(0));
                            return keys;
                          }};
  const auto x = naive_standard(tests::in_double(it.inputs()[0].read()), D);
  return naive.forward(x, x, tests::in_double(it.inputs()[1].read()));
}

TEST(Routing, one_cluster_as_wide_as_the_sequence_is_dense_attention_with_shared_keys) {
  for (const std::string mode : {"strict", "paper"}) {
    const Routed it(90, settings("1", 90, {{"mode", mode}}));
    tests::expect_close(it.evaluate().read(), dense(it), close);
  }
  const Routed official(90, settings("1", 90, {{"mode", "paper"}, {"count_eps", 0.01}}));
  auto shrunk = dense(official);
  for (double& y : shrunk) y /= 1.01;
  tests::expect_close(official.evaluate().read(), shrunk, close);
}

TEST(Routing, identical_centroids_are_one_centroid) {
  for (const std::string mode : {"strict", "paper"}) {
    // Two, which a matrix product treats alike on any processor: their scores have the same bits.
    Routed many(90, settings("2", 20, {{"mode", mode}}));
    Routed one(90, settings("1", 20, {{"mode", mode}}));
    std::vector<Real> centre(one.state->value().read().begin(),
                             one.state->value().read().begin() + D);
    for (Routed* it : {&many, &one})
      it->for_each_cluster([&](Real* row) { std::ranges::copy(centre, row); });
    tests::expect_close(many.evaluate().read(), tests::in_double(one.evaluate().read()), close);
  }
}

TEST(Routing, adding_a_constant_to_the_centroids_changes_nothing) {
  // Normalised tokens sum to zero.
  for (const std::string mode : {"strict", "paper"}) {
    Routed it(90, settings("5", 20, {{"mode", mode}}));
    const Tensor before = it.evaluate();
    it.for_each_cluster([](Real* row) {
      for (Index d = 0; d < D; ++d) row[d] += 3;
    });
    EXPECT_TRUE(same_bits(before.read(), it.evaluate().read()));
  }
}

TEST(Routing, evaluation_leaves_the_centroids_bit_for_bit_and_repeats_itself) {
  Routed it(90, settings("5", 20));
  const std::vector<Real> kept(it.state->value().read().begin(), it.state->value().read().end());
  const Tensor first = it.evaluate(), second = it.evaluate();
  it.decode(0);
  EXPECT_TRUE(same_bits(first.read(), second.read()));
  EXPECT_TRUE(same_bits(kept, it.state->value().read()));
}

TEST(Routing, strict_mode_leaks_nothing_where_paper_mode_does) {
  const Index length = 256;
  for (const std::string mode : {"strict", "paper"}) {
    Index changed = 0;
    const auto given = settings("8", 16, {{"mode", mode}});
    const Tensor before = Routed(length, given).evaluate();
    for (Index trial = 0; trial < 20; ++trial) {
      Routed it(length, given);
      for (Tensor& x : it.inputs()) {
        const Tensor other = tests::random_tensor({1, x.shape()[1]}, 70 + std::uint64_t(trial));
        std::ranges::copy(other.read(), x.write().end() - x.shape()[1]);
      }
      const Tensor after = it.evaluate();
      for (Index t = 0; t + 1 < length; ++t)
        changed += !same_bits(before.rows(t, 1).read(), after.rows(t, 1).read());
    }
    EXPECT_EQ(changed > 0, mode == "paper") << changed << " earlier outputs changed";
    EXPECT_EQ(Routed(8, given).traits().leaks, mode == "paper");
  }
}

TEST(Routing, every_centroid_takes_its_window_of_nearest_real_tokens) {
  const Index length = 40, clusters = 5, window = 7;
  const Tensor tokens = tests::random_tensor({2 * length, H * D}, 1);
  const Tensor centres = tests::random_tensor({H, clusters, D}, 2);
  const std::vector<Index> lengths{length, 20};
  const auto sets = nearest_tokens(tokens, centres, 2, window, &lengths);
  for (Index lane = 0; lane < 2 * H; ++lane) {
    const auto& own = sets[std::size_t(lane)];
    EXPECT_EQ(Index(own.size()), clusters * window);  // counts of all tokens together
    const Index h = lane % H, real = lengths[std::size_t(lane / H)];
    for (Index c = 0; c < clusters; ++c) {
      const auto product = [&](Index t) {
        double y = 0;
        for (Index d = 0; d < D; ++d)
          y += double(tokens.read()[std::size_t(((lane / H * length + t) * H + h) * D + d)]) *
               double(centres.read()[std::size_t((h * clusters + c) * D + d)]);
        return y;
      };
      const auto first = own.begin() + c * window, last = first + window;
      EXPECT_TRUE(std::is_sorted(first, last));
      double least = 1e300;
      for (auto it = first; it < last; ++it) least = std::min(least, product(Index(*it)));
      for (Index t = 0; t < real; ++t)
        if (std::find(first, last, std::uint32_t(t)) == last) {
          EXPECT_LE(product(t), least + 1e-5);
        }
      EXPECT_LT(*(last - 1), std::uint32_t(real)) << "padding took a slot";
    }
  }
}

TEST(Routing, a_token_that_no_centroid_took_gives_zeros) {
  const Routed it(60, settings("2", 5, {{"mode", "paper"}}));
  const Tensor out = it.evaluate();
  Index zeros = 0;
  for (Index t = 0; t < 60; ++t)
    zeros += std::ranges::all_of(out.rows(t, 1).read(), [](Real y) { return y == 0; });
  EXPECT_GE(zeros, 60 - 2 * H * 5);
}

TEST(Routing, a_decoded_token_scores_at_most_two_windows) {
  const Index length = 300, window = 8;
  const Routed it(length, settings("3", window));
  const Index most = it.most_pairs_of_a_decoded_token();
  EXPECT_LE(most, H * 2 * window);
  EXPECT_GT(most, H * window);
}

TEST(Routing, clusters_are_a_number_or_the_root_of_the_length) {
  const auto count = [](const tests::Settings& given) {
    Routed it(400, given);
    return it.state->value().shape()[1];
  };
  EXPECT_EQ(count({}), 20);
  EXPECT_EQ(count({{"clusters", "7"}}), 7);
  for (const std::string wrong : {"", "0", "-3", "7.5", "many", "70000"}) {
    tests::GivenFields fields({{"clusters", wrong}});
    find_attention("routing")->configure(fields, {.width = 8, .heads = 2, .head_width = 4});
    EXPECT_TRUE(fields.problems().contains("clusters")) << wrong;
  }
}

TEST(Routing, figures_say_how_clusters_are_used) {
  Routed it(90, settings("4", 20));
  Index c = 0;
  it.for_each_cluster([&](Real* row) { row[D] = Real(c++ % 4 == 0 ? 30 : 0); });
  const auto figures = it.attention().metrics();
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].name, "clusters_used");
  EXPECT_DOUBLE_EQ(figures[0].value, 0.25);
  EXPECT_EQ(figures[1].name, "largest_cluster");
  EXPECT_DOUBLE_EQ(figures[1].value, 1);
}

}  // namespace
}  // namespace weft::layers::routing_contract_test
