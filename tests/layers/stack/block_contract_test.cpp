#include "layers/parts/feed_forward.h"
#include "layers/settings/attention_plans.h"
#include "layers/stack/block.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::block_contract_test {
namespace {

using tests::random_tensor;

constexpr double tolerance = 1000 * tests::epsilon;
constexpr Index width = 8, heads = 2;
constexpr Real rate = Real(0.3);

Block make(NormPlace place, Real dropout) {
  const AttentionSite site{.width = width, .heads = heads, .head_width = 4, .length = 40};
  tests::GivenFields defaults;
  MultiHead attention(read_attention(defaults, "dense", site), site, Init::zeros(), Init::zeros(),
                      nullptr);
  return {std::move(attention),
          std::make_unique<DenseFeedForward>(width, 20, Init::zeros(), Init::zeros()),
          {.width = width, .place = place, .dropout = dropout}};
}

NaiveDense dense_of(const Sequences& s) { return {s, heads, 4, 0.5}; }

TEST(Block, normalises_before_or_after_each_sublayer) {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post})
    for (const Real dropout : {Real(0), rate}) {  // evaluation drops nothing
      Block block = make(place, dropout);
      const DrawnWeights drawn(block);
      const Sequences s = Sequences::self(2, 17, true);
      const Tensor x = random_tensor({34, width}, 1);
      const Grid expected =
          naive_block(drawn.weights(), "", Grid(x), dense_of(s), place == NormPlace::pre, false);
      tests::expect_close(block.forward(Pass(), Var(x), s).value().read(), expected.numbers,
                          tolerance);
    }
}

// The factors that dropout multiplies with at one place of the pass.
Grid factors(const Pass& pass, Index rows) {
  return Grid(autograd::dropout(pass, Var(Tensor({rows, width}, 1)), rate).value());
}

Grid masked(Grid x, const Grid& mask) {
  for (std::size_t i = 0; i < x.numbers.size(); ++i) x.numbers[i] *= mask.numbers[i];
  return x;
}

TEST(Block, drops_parts_of_each_sublayers_output_in_training) {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    const bool pre = place == NormPlace::pre;
    Block block = make(place, rate);
    const DrawnWeights drawn(block);
    const Weights w = drawn.weights();
    const Sequences s = Sequences::self(2, 17, true);
    const Tensor x = random_tensor({34, width}, 1);
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass pass(tape, core::Rng(3), journal);
    const Grid first = factors(pass.at("attention"), 34),
               second = factors(pass.at("feed_forward"), 34);
    EXPECT_NE(first.numbers, second.numbers);
    const auto normed = [&](const std::string& name, bool here, const Grid& in) {
      return here ? naive_norm(w, name, in) : in;
    };
    const Grid heads_out = naive_heads(w, "attention.projection",
                                       normed("attention_norm", pre, Grid(x)), dense_of(s), false);
    const Grid y =
        normed("attention_norm", !pre,
               naive_sum(Grid(x), masked(naive_linear(w, "attention.output", heads_out), first)));
    const Grid fed = naive_feed_forward(w, "feed_forward.", normed("feed_forward_norm", pre, y));
    const Grid z = normed("feed_forward_norm", !pre, naive_sum(y, masked(fed, second)));
    tests::expect_close(block.forward(pass, Var(x), s).value().read(), z.numbers, tolerance);
  }
}

TEST(Block, passes_gradients) {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post})
    for (const Real dropout : {Real(0), rate})
      for (const bool causal : {true, false}) {
        Block block = make(place, dropout);
        DrawnWeights drawn(block);
        tests::check_gradient(
            "block",
            [&](const Pass& pass, const std::vector<Var>& in) {
              return block.forward(pass, in[0], Sequences::self(2, 9, causal));
            },
            {random_tensor({18, width}, 1)}, drawn.arena());
      }
}

TEST(Block, decodes_what_it_computes_at_once) {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    Block block = make(place, rate);
    const DrawnWeights drawn(block);
    const Tensor x = random_tensor({30, width}, 1);
    const Tensor whole = block.forward(Pass(), Var(x), Sequences::self(1, 30, true)).value();
    BranchStates states;
    for (const auto& branch : block.branches()) states.branches.push_back(branch->begin());
    for (Index t = 0; t < 30; ++t)
      tests::expect_close(block.step({{&states, t}}, 0, x.rows(t, 1)).read(),
                          tests::in_double(whole.rows(t, 1).read()), tolerance);
  }
}

TEST(Block, counts_its_weights) {
  EXPECT_EQ(make(NormPlace::pre, 0).weights(), 4 * width * width + 2 * width * 20);
}

}  // namespace
}  // namespace weft::layers::block_contract_test
