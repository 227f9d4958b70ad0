// Reversible stacks of every registered attention against the same two streams on one plain tape.
#include <algorithm>

#include "core/memory.h"
#include "core/parallel.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/sparse_feed_forward.h"
#include "layers/stack/block.h"
#include "layers/stack/reversible_stack.h"
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::reversible_contract_test {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr double tolerance = in_double ? 1e-9 : 1e-4;
constexpr Index width = 12, heads = 3, length = 70;

std::vector<Real> copy_of(std::span<const Real> x) { return {x.begin(), x.end()}; }

/// |x - y| / |y|
double distance(std::span<const Real> x, std::span<const Real> y) {
  double squares = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (double(x[i]) - double(y[i])) * (double(x[i]) - double(y[i]));
    size += double(y[i]) * double(y[i]);
  }
  return std::sqrt(squares / size);
}

/// Dense, or sparse with choices that noise has a part in.
std::unique_ptr<FeedForward> feed_forward(bool sparse) {
  if (sparse)
    return std::make_unique<SparseFeedForward>(
        width, 20, SparseFeedForwardSettings{.block = 5, .rank = 2, .temperature = 1, .hard = 0.7});
  return std::make_unique<DenseFeedForward>(width, 20, Init::zeros(), Init::zeros());
}

/// Pre-norm blocks of one kind of attention, with dropout.
struct Blocks {
  Blocks(const std::string& kind, Index depth, bool sparse = false, double dropout = 0.2) {
    const AttentionSite site{
        .layers = depth, .width = width, .heads = heads, .head_width = 4, .length = length};
    tests::GivenFields defaults;
    auto plan = read_attention(defaults, kind, site);
    if (sparse) plan[0].projection.kind = Density::sparse;
    if (plan[0].attention.rows) sequences = laid_out(*plan[0].attention.rows, sequences);
    for (Index i = 0; i < depth; ++i)
      all.emplace_back(MultiHead(plan, site, Init::zeros(), Init::zeros(), nullptr),
                       feed_forward(sparse),
                       ResidualForm{.width = width, .dropout = Real(dropout)});
  }
  void visit(Inventory& inventory) {
    for (std::size_t i = 0; i < all.size(); ++i) inventory.enter(std::to_string(i), all[i]);
  }
  /// One branch of block i, where the stack runs it.
  Var branch(std::size_t i, std::size_t b, const Pass& pass, const Var& x,
             const Sequences& s) const {
    return all[i].branches()[b]->forward(pass.at(i).at(Block::names[b]), x, s);
  }
  Var run_reversible(const Pass& pass, const Var& x, const Sequences& s,
                     StreamOutput output) const {
    ReversibleStack stack;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t b = 0; b < 2; ++b)
        stack.append("layers", {i, std::string(Block::names[b])}, all[i].branches()[b]);
    return stack.run(pass, x, x, std::vector(stack.size(), s), output);
  }
  /// The same arithmetic as run_reversible, every activation kept.
  Var run_plain(const Pass& pass, const Var& x, const Sequences& s, StreamOutput output) const {
    Var first = x, second = x;
    for (std::size_t i = 0; i < all.size(); ++i) {
      first = autograd::add(first, branch(i, 0, pass, second, s));
      second = autograd::add(second, branch(i, 1, pass, first, s));
    }
    if (output == StreamOutput::concat) return autograd::concat({first, second});
    return autograd::scale(autograd::add(first, second), Real(0.5));
  }

  /// Drawn numbers for every row.
  Tensor input() const {
    return tests::random_tensor({sequences.batch * sequences.queries, width}, 1);
  }

  Sequences sequences = Sequences::self(2, length, true);
  std::vector<Block> all;
};

class ReversibleBlocks : public testing::TestWithParam<std::string> {
 protected:
  struct Run {
    Tensor out, dx;
    std::vector<Real> gradients;
  };
  /// One training pass, with states committed after it.
  static Run run(Blocks& blocks, autograd::ParameterArena& arena, bool plain, StreamOutput output,
                 std::uint64_t step = 0) {
    arena.zero_gradients();
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass pass(tape, core::Rng(3).fold(step), journal);
    const Sequences& s = blocks.sequences;
    const Var in = tape.watch(blocks.input());
    const Var out =
        plain ? blocks.run_plain(pass, in, s, output) : blocks.run_reversible(pass, in, s, output);
    tape.sweep(out, tests::random_tensor(out.shape(), 5));
    journal.commit();
    return {out.value(), tape.gradient(in), copy_of(arena.gradients())};
  }
};

TEST_P(ReversibleBlocks, has_the_gradients_of_two_plain_streams_with_dropout_on) {
  for (const bool sparse : {false, true})
    for (const StreamOutput output : {StreamOutput::average, StreamOutput::concat}) {
      if (sparse && !has_equal_projections(GetParam())) continue;
      Blocks blocks(GetParam(), 3, sparse), twin(GetParam(), 3, sparse);
      DrawnWeights drawn(blocks), same(twin);
      const Run reversible = run(blocks, drawn.arena(), false, output);
      const Run plain = run(twin, same.arena(), true, output);
      EXPECT_TRUE(tests::same_bits(reversible.out.read(), plain.out.read()));
      EXPECT_LT(distance(reversible.dx.read(), plain.dx.read()), tolerance);
      EXPECT_LT(distance(reversible.gradients, plain.gradients), tolerance);
    }
}

TEST_P(ReversibleBlocks, learns_the_same_weights_and_states_in_two_steps) {
  const auto trained = [&](bool plain) {
    Blocks blocks(GetParam(), 3);
    DrawnWeights drawn(blocks);
    for (const std::uint64_t step : {0, 1}) {
      const Run r = run(blocks, drawn.arena(), plain, StreamOutput::average, step);
      for (std::size_t i = 0; i < r.gradients.size(); ++i)
        drawn.arena().values()[i] -= Real(1e-3) * r.gradients[i];
    }
    std::vector<Real> all = copy_of(drawn.arena().values());
    Inventory inventory;
    blocks.visit(inventory);
    for (const auto& named : inventory.states())
      all.insert(all.end(), named.state->value().read().begin(), named.state->value().read().end());
    return all;
  };
  EXPECT_LT(distance(trained(false), trained(true)), tolerance);
}

TEST_P(ReversibleBlocks, finds_the_input_of_the_first_of_twelve_layers_again) {
  Blocks blocks(GetParam(), 12);
  const DrawnWeights drawn(blocks);
  const Sequences& s = blocks.sequences;
  std::vector<Tensor> seen;  // what the first attention read: in the pass, and in the sweep
  std::vector<autograd::Sublayer> branches;
  for (std::size_t i = 0; i < blocks.all.size(); ++i)
    for (const std::size_t b : {0, 1})
      branches.emplace_back([&, i, b](const Pass& pass, const Var& in) {
        if (i == 0 && b == 0) seen.push_back(in.value());
        return blocks.branch(i, b, pass, in, s);
      });
  autograd::Tape tape;
  autograd::Journal journal;
  const Var in = tape.watch(blocks.input());
  const Var out = autograd::reversible(Pass(tape, core::Rng(3), journal), branches, in, in,
                                       StreamOutput::average);
  tape.sweep(out, tests::random_tensor(out.shape(), 5));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_LT(distance(seen[1].read(), seen[0].read()), in_double ? 1e-12 : 1e-4);
}

TEST_P(ReversibleBlocks, takes_as_much_memory_at_depth_24_as_at_depth_4) {
  core::set_threads(1);  // how much of the kernels' scratch coincides depends on the threads
  const auto peak = [&](Index depth) {
    ModelSettings settings = small_settings();
    settings.attention = {GetParam()};
    settings.layers = depth;
    settings.width = 32;
    settings.ff = 128;
    settings.dropout = 0.1;
    settings.reversible = true;
    SampleModel it(settings, 512);
    const Index before = core::memory_use().live;
    core::reset_memory_peak();
    it.train();
    return core::memory_use().peak - before;
  };
  const Index shallow = peak(4), deep = peak(24);
  core::set_threads(0);
  EXPECT_LE(deep, shallow + shallow / 10) << shallow << " bytes at depth 4";
}

TEST(ReversibleModel, gives_gradients_to_relative_positions_that_layers_share) {
  for (const PositionKind positions : {PositionKind::shaw, PositionKind::t5, PositionKind::xl}) {
    ModelSettings settings = small_settings();
    settings.positions = positions;
    settings.reversible = true;
    SampleModel it(settings, 20);
    tests::check_gradient(
        "loss",
        [&](const Pass& pass, const std::vector<Var>&) {
          return it.model.loss(pass, {it.tokens(2, 1), it.targets(2)}, 1);
        },
        {}, it.drawn.arena());
  }
}

std::vector<std::string> causal_kinds() {
  std::vector<std::string> kinds;
  for (const AttentionEntry& entry : attention_registry()) {
    const AttentionSite site{.width = width, .heads = heads, .head_width = 4, .length = length};
    tests::GivenFields defaults;
    if (entry.configure(defaults, site).traits.causal) kinds.emplace_back(entry.kind);
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Registry, ReversibleBlocks, testing::ValuesIn(causal_kinds()),
                         [](const auto& chosen) { return chosen.param; });

}  // namespace
}  // namespace weft::layers::reversible_contract_test
