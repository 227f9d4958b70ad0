// How cluster centres start and move.
#include "autograd/ops.h"
#include "layers/attention/clusters/centroids.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::centroids_contract_test {
namespace {

using tests::same_bits;

constexpr Index heads = 2, width = 4, clusters = 3;
const CentroidSettings standard{.heads = heads,
                                .clusters = clusters,
                                .width = width,
                                .form = {HeadForm::Law::standard, Real(1e-6)}};

// All tokens [N, H D] join the given clusters in one training step of the given micro-batches.
void step(Centroids& centroids, const std::vector<Tensor>& batches,
          const std::vector<std::uint16_t>& joined, bool commits = true) {
  autograd::Tape unused;
  autograd::Journal journal;
  for (std::size_t m = 0; m < batches.size(); ++m) {
    const Pass pass(unused, core::Rng(m), journal);
    const Index length = batches[m].shape()[0];
    centroids.propose(pass, centroids.in_use(pass, batches[m]),
                      {{batches[m], joined, 1, length, nullptr}});
    journal.forget_decisions();
  }
  if (commits) journal.commit();
}

std::vector<double> centre(const Centroids& it, Index head, Index cluster) {
  const auto rows = it.state().value().read();
  return tests::in_double(
      rows.subspan(std::size_t((head * clusters + cluster) * (width + 2)), std::size_t(width)));
}
double idle(const Centroids& it, Index head, Index cluster) {
  return double(it.state()
                    .value()
                    .read()[std::size_t((head * clusters + cluster) * (width + 2) + width + 1)]);
}
double length_of(const std::vector<double>& x) {
  double squares = 0;
  for (const double v : x) squares += v * v;
  return std::sqrt(squares);
}

// Of tokens 0..5: clusters 0 and 1 by turns; cluster 2 stays empty. [1, H, 6]
const std::vector<std::uint16_t> by_turns{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};

Tensor tokens(std::uint64_t seed) {
  const Tensor x = tests::random_tensor({6, heads * width}, seed);
  return form_heads(standard.form, {x.data(), heads * width}, 6, heads, width);
}

TEST(Centroids, move_by_one_minus_decay_towards_the_mean_and_keep_their_length) {
  for (const bool sums : {false, true}) {
    CentroidSettings settings = standard;
    settings.decay = 0.9;
    settings.sums = sums;
    Centroids it(settings, core::Rng(1));
    step(it, {tokens(1)}, by_turns);  // from here on they are no longer new
    const auto before = centre(it, 1, 0), empty = centre(it, 1, 2);
    const Tensor x = tokens(2);
    step(it, {x}, by_turns);
    std::vector<double> expected = before;
    for (Index d = 0; d < width; ++d) {
      double sum = 0;
      for (const Index t : {0, 2, 4})
        sum += double(x.read()[std::size_t((t * heads + 1) * width + d)]);
      expected[std::size_t(d)] = 0.9 * before[std::size_t(d)] + 0.1 * (sums ? sum : sum / 3);
    }
    const double factor = sums ? 1 : 2 / length_of(expected);  // sqrt(width) is 2
    for (double& v : expected) v *= factor;
    const auto rows = it.state().value().read();
    tests::expect_close(rows.subspan(clusters * (width + 2), width), expected, 4 * tests::epsilon);
    EXPECT_EQ(centre(it, 1, 2), empty) << "an empty cluster stays";
    EXPECT_EQ(idle(it, 1, 2), 2);
    EXPECT_EQ(idle(it, 1, 0), 0);
  }
}

TEST(Centroids, are_moved_once_a_step_over_all_micro_batches) {
  CentroidSettings settings = standard;
  Centroids together(settings, core::Rng(1)), apart(settings, core::Rng(1));
  step(together, {tokens(1)}, by_turns);
  step(apart, {tokens(1)}, by_turns);
  // One batch of two halves, or the halves as micro-batches.
  Tensor both({12, heads * width});
  std::ranges::copy(tokens(2).read(), both.write().begin());
  std::ranges::copy(tokens(3).read(), both.write().begin() + 6 * heads * width);
  std::vector<std::uint16_t> joined;
  for (Index i = 0; i < 24; ++i) joined.push_back(std::uint16_t(i % 2));
  step(together, {both}, joined);
  step(apart, {tokens(2), tokens(3)}, by_turns);
  tests::expect_close(apart.state().value().read(),
                      tests::in_double(together.state().value().read()), 10 * tests::epsilon);
}

TEST(Centroids, a_step_that_is_not_committed_changes_nothing) {
  Centroids it(standard, core::Rng(1));
  const Tensor before = it.state().value();
  step(it, {tokens(1)}, by_turns, false);
  EXPECT_TRUE(same_bits(before.read(), it.state().value().read()));
}

TEST(Centroids, all_micro_batches_of_the_first_step_use_the_first_ones_start) {
  using Start = CentroidSettings::Start;
  for (const Start start : {Start::normal, Start::sample, Start::spread}) {
    CentroidSettings settings = standard;
    settings.start = start;
    const Centroids it(settings, core::Rng(1));
    autograd::Tape unused;
    autograd::Journal journal;
    std::vector<Tensor> used;
    for (const std::uint64_t m : {1, 2}) {
      const Pass pass(unused, core::Rng(m), journal);
      const Tensor x = tokens(m);
      used.push_back(it.in_use(pass, x));
      it.propose(pass, used.back(), {{x, by_turns, 1, 6, nullptr}});
      journal.forget_decisions();
    }
    EXPECT_TRUE(same_bits(used[0].read(), used[1].read()));
    const Centroids other(settings, core::Rng(1));
    autograd::Journal fresh;
    EXPECT_FALSE(same_bits(used[0].read(),
                           other.in_use(Pass(unused, core::Rng(2), fresh), tokens(2)).read()));
  }
}

TEST(Centroids, start_from_tokens_of_the_first_batch) {
  using Start = CentroidSettings::Start;
  CentroidSettings settings = standard;
  settings.start = Start::spread;
  const Centroids it(settings, core::Rng(1));
  autograd::Tape unused;
  autograd::Journal journal;
  const Tensor x = tokens(1), used = it.in_use(Pass(unused, core::Rng(5), journal), x);
  for (Index h = 0; h < heads; ++h)
    for (Index c = 0; c < clusters; ++c) {
      Index equals = 0;
      for (Index t = 0; t < 6; ++t)
        equals += std::equal(used.data() + (h * clusters + c) * width,
                             used.data() + (h * clusters + c + 1) * width,
                             x.data() + (t * heads + h) * width);
      EXPECT_EQ(equals, 1) << "centre " << c << " of head " << h;
    }
}

TEST(Centroids, an_idle_cluster_splits_the_largest_after_the_set_steps) {
  CentroidSettings settings = standard;
  settings.reseed_after = 3;
  Centroids it(settings, core::Rng(1)), again(settings, core::Rng(1));
  std::vector<std::uint16_t> joined(12, 1);  // all but two of each head join cluster 1
  joined[0] = joined[6] = 0;
  for (int i = 0; i < 2; ++i) step(it, {tokens(1)}, joined);
  const auto before = centre(it, 0, 2);
  EXPECT_EQ(idle(it, 0, 2), 2);
  step(it, {tokens(1)}, joined);
  EXPECT_EQ(idle(it, 0, 2), 0);
  const auto moved = centre(it, 0, 2), largest = centre(it, 0, 1);
  EXPECT_NE(moved, before);
  double product = 0;
  for (std::size_t d = 0; d < std::size_t(width); ++d) product += moved[d] * largest[d];
  EXPECT_GT(product / (length_of(moved) * length_of(largest)), 0.8);
  EXPECT_NEAR(length_of(moved), length_of(largest), 1e-5);
  for (int i = 0; i < 3; ++i) step(again, {tokens(1)}, joined);
  EXPECT_TRUE(same_bits(it.state().value().read(), again.state().value().read()));
}

TEST(Centroids, a_replay_proposes_nothing_and_reads_the_clusters_back) {
  const AttentionSample it("routing", Sequences::self(1, 50, true), heads, width,
                           {{"clusters", "3"}, {"window", Index(8)}, {"init", "sample"}});
  const auto moved = [&](bool replayed) {
    autograd::Inventory inventory;
    const_cast<Attention&>(it.attention()).visit(inventory);
    autograd::State& state = *inventory.states().at(0).state;
    const std::vector<Real> kept(state.value().read().begin(), state.value().read().end());
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass pass(tape, core::Rng(3), journal);
    const Var leaf = tape.watch(tests::random_tensor({50, 2 * heads * width}, 4));
    const auto attend = [&](const Pass& own, const Var& in) {
      return it.attention().forward(own, {{{in, 0}, {in, heads * width}}, {}, it.sequences()});
    };
    const Var out = replayed ? autograd::recompute(pass, attend, leaf) : attend(pass, leaf);
    tape.sweep(out, tests::random_tensor(out.shape(), 5));
    journal.commit();
    const std::vector<Real> result(state.value().read().begin(), state.value().read().end());
    std::ranges::copy(kept, state.writable().begin());
    return result;
  };
  const auto plain = moved(false), replayed = moved(true);
  EXPECT_TRUE(same_bits(plain, replayed));
  double members = 0;
  for (std::size_t i = width; i < plain.size(); i += width + 2) members += double(plain[i]);
  EXPECT_EQ(members, 50 * heads) << "each token counts once";
}

}  // namespace
}  // namespace weft::layers::centroids_contract_test
