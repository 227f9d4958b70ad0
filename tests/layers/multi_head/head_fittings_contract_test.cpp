// Fittings around every mechanism: as a layer they keep what the mechanism's contract promises.
#include "core/counters.h"
#include "core/parallel.h"
#include "layers/attention/registry.h"
#include "layers/multi_head/multi_head.h"
#include "layers/settings/attention_plans.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/drawn_weights.h"
#include "tests/layers/given_fields.h"
#include "tests/random_values.h"

namespace weft::layers::head_fittings_contract_test {
namespace {

using tests::random_tensor;
using tests::same_bits;
using tests::Settings;

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr Index width = 12, heads = 4, head_width = 6, length = 11, taps = 3;
constexpr Index longest = 1024;  // which suits the defaults of every mechanism

AttentionPlan plan_of(const std::string& kind) {
  tests::GivenFields fields;
  const AttentionSite site{
      .width = width, .heads = heads, .head_width = head_width, .length = longest};
  return find_attention(kind)->configure(fields, site);
}

AttentionTraits traits_of(const std::string& kind) { return plan_of(kind).traits; }

/// A layer of one kind with rotary positions, and its weights.
struct FittedLayer {
  FittedLayer(const std::string& kind, Settings settings, bool causal = true)
      : part(make(kind, settings, causal)), drawn(part, 0.3) {
    drawn.inventory().constrain();
  }

  static MultiHead make(const std::string& kind, const Settings& settings, bool causal) {
    const AttentionSite site{.width = width,
                             .heads = heads,
                             .head_width = head_width,
                             .length = longest,
                             .causal = causal};
    tests::GivenFields fields(settings);
    const auto plan = read_attention(fields, kind, site);
    EXPECT_TRUE(fields.problems().empty()) << kind;
    return {plan, site, Init::zeros(), Init::zeros(),
            std::make_shared<const Rotary>(head_width, length)};
  }
  Tensor forward(const Tensor& x, const Sequences& s) const {
    return part.forward(Pass(core::Rng(3)), Var(x), s).value();
  }

  MultiHead part;
  DrawnWeights<MultiHead> drawn;
};

/// All fittings that a kind does not refuse.
Settings all_fittings(const std::string& kind) {
  Settings all{{"conv", taps}, {"norm", "rms"}, {"gate", "sigmoid"}};
  if (!traits_of(kind).separate_keys) return all;
  all["kv_heads"] = Index(2);
  all["qk_norm"] = true;
  return all;
}

class HeadFittingsContract : public testing::TestWithParam<std::string> {
 protected:
  ~HeadFittingsContract() override { core::set_threads(0); }
  bool causal() const { return traits_of(GetParam()).causal; }
  FittedLayer layer() const { return {GetParam(), all_fittings(GetParam()), causal()}; }
};

// Across the first taps - 1 tokens, too.
TEST_P(HeadFittingsContract, decoding_gives_what_the_whole_pass_gives) {
  if (!causal()) GTEST_SKIP() << "cannot decode";
  const FittedLayer it = layer();
  const Tensor x = random_tensor({length, width}, 1);
  const Tensor whole = it.forward(x, Sequences::self(1, length, true));
  MultiHeadState state = it.part.begin();
  for (Index t = 0; t < length; ++t)
    tests::expect_close(it.part.step({{&state, t}}, x.rows(t, 1)).read(),
                        tests::in_double(whole.rows(t, 1).read()), in_double ? 1e-10 : 1e-4);
}

TEST_P(HeadFittingsContract, outputs_before_a_change_keep_their_bits) {
  if (!causal()) GTEST_SKIP() << "reads the future";
  const FittedLayer it = layer();
  Tensor x = random_tensor({length, width}, 1);
  const Tensor before = it.forward(x, Sequences::self(1, length, true));
  for (Real& number : x.write().subspan(std::size_t(6 * width))) number += 1;
  const Tensor after = it.forward(x, Sequences::self(1, length, true));
  EXPECT_TRUE(same_bits(before.rows(0, 6).read(), after.rows(0, 6).read()));
  EXPECT_FALSE(same_bits(before.rows(6, 5).read(), after.rows(6, 5).read()));
}

TEST_P(HeadFittingsContract, passes_gradients) {
  if (!in_double) GTEST_SKIP() << "differences mean nothing in float";
  FittedLayer it = layer();
  const Sequences s = Sequences::self(2, length, causal());
  tests::check_gradient(
      "multi_head",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.part.forward(pass, in[0], s); },
      {random_tensor({2 * length, width}, 1)}, it.drawn.arena());
}

TEST_P(HeadFittingsContract, any_number_of_threads_gives_the_same_bits) {
  FittedLayer it = layer();
  const Tensor x = random_tensor({2 * length, width}, 1), up = random_tensor(x.shape(), 2);
  std::vector<std::vector<Real>> all;
  for (const Index threads : {1, 3}) {
    core::set_threads(threads);
    it.drawn.arena().zero_gradients();
    autograd::Tape tape;
    autograd::Journal journal;
    const Var leaf = tape.watch(x);
    const Var out = it.part.forward(Pass(tape, core::Rng(3), journal), leaf,
                                    Sequences::self(2, length, causal()));
    tape.sweep(out, up);
    std::vector<Real>& numbers = all.emplace_back();
    for (const auto part : {out.value().read(), tape.gradient(leaf).read(),
                            std::span<const Real>(it.drawn.arena().gradients())})
      numbers.insert(numbers.end(), part.begin(), part.end());
  }
  EXPECT_TRUE(same_bits(all[0], all[1]));
}

TEST_P(HeadFittingsContract, stated_flops_are_what_the_kernels_count) {
  const FittedLayer it = layer();
  const Sequences s = Sequences::self(2, length, causal());
  const Tensor x = random_tensor({2 * length, width}, 1);
  const Index before = core::counters().flops;
  it.forward(x, s);
  const Index counted = core::counters().flops - before;
  const Index stated = it.part.cost(s).flops + 2 * 2 * length * it.part.weights();
  EXPECT_LE(counted, stated);
  if (!traits_of(GetParam()).adaptive) {
    EXPECT_EQ(counted, stated);
  }
}

/// Those whose rows are tokens: a convolution over other rows is refused.
std::vector<std::string> kinds() {
  std::vector<std::string> all;
  for (const AttentionEntry& entry : attention_registry())
    if (!plan_of(entry.kind).rows) all.push_back(entry.kind);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, HeadFittingsContract, testing::ValuesIn(kinds()),
                         [](const auto& chosen) { return chosen.param; });

TEST(SharedHeads, as_many_as_heads_change_nothing) {
  for (const std::string kind : {"dense", "adaptive_span", "linear", "gated_deltanet"}) {
    const FittedLayer own(kind, {}), all(kind, {{"kv_heads", heads}});
    const Tensor x = random_tensor({2 * length, width}, 1);
    const Sequences s = Sequences::self(2, length, true);
    EXPECT_TRUE(same_bits(own.forward(x, s).read(), all.forward(x, s).read())) << kind;
  }
}

/// Output of a layer and the gradients of its projection, [columns, W + 1] with the bias.
struct Pulled {
  Tensor out;
  Grid projection;
};
Pulled pulled(FittedLayer& it, const Tensor& x) {
  it.drawn.arena().zero_gradients();
  autograd::Tape tape;
  autograd::Journal journal;
  const Var out = it.part.forward(Pass(tape, core::Rng(3), journal), tape.watch(x),
                                  Sequences::self(1, length, true));
  tape.sweep(out, random_tensor(out.shape(), 2));
  const auto& slots = it.drawn.arena().slots();
  const Index rows = slots[0].size / width;
  Grid gradient(rows, width + 1);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < width; ++c)
      gradient.at(r, c) =
          it.drawn.arena().gradients()[std::size_t(slots[0].offset + r * width + c)];
    gradient.at(r, width) = it.drawn.arena().gradients()[std::size_t(slots[1].offset + r)];
  }
  return {out.value(), gradient};
}

// Four heads of which neighbours have equal keys and values are two shared heads.
TEST(SharedHeads, are_equal_heads_with_their_gradients_summed) {
  for (const std::string kind : {"dense", "local", "fixed_span", "linear", "gla", "differential"}) {
    SCOPED_TRACE(kind);
    FittedLayer few(kind, {{"kv_heads", Index(2)}}), many(kind, {});
    const Index queries = (kind == "differential" ? 2 : 1) * heads * head_width;
    const Index columns = heads * head_width;
    /// The row of `few` that row r of `many` repeats.
    const auto source = [&](Index r) {
      if (r < queries) return r;
      const Index block = (r - queries) / columns, head = (r - queries) % columns / head_width;
      return queries + block * columns / 2 + head / 2 * head_width + r % head_width;
    };
    const auto &from = few.drawn.arena().slots(), &to = many.drawn.arena().slots();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto given = few.drawn.arena().value(from[i]);
      const auto own = many.drawn.arena().value(to[i]);
      const Index n = i == 0 ? width : 1;
      for (Index r = 0; r < to[i].size / n; ++r)
        for (Index c = 0; c < n; ++c)
          own[std::size_t(r * n + c)] = given[std::size_t((i < 2 ? source(r) : r) * n + c)];
    }
    const Tensor x = random_tensor({length, width}, 1);
    const Pulled one = pulled(few, x), other = pulled(many, x);
    EXPECT_TRUE(same_bits(one.out.read(), other.out.read()));
    Grid summed(one.projection.rows, width + 1);
    for (Index r = 0; r < other.projection.rows; ++r)
      for (Index c = 0; c <= width; ++c) summed.at(source(r), c) += other.projection.at(r, c);
    for (std::size_t i = 0; i < summed.numbers.size(); ++i)
      ASSERT_NEAR(one.projection.numbers[i], summed.numbers[i], in_double ? 1e-12 : 1e-4);
  }
}

TEST(SharedHeads, make_the_decoding_cache_smaller_by_their_ratio) {
  for (const std::string kind : {"dense", "local", "adaptive_span", "forgetting"}) {
    const auto bytes = [&](Index kv_heads) {
      const FittedLayer it(kind, {{"kv_heads", kv_heads}});
      MultiHeadState state = it.part.begin();
      const Tensor x = random_tensor({length, width}, 1);
      for (Index t = 0; t < length; ++t) it.part.step({{&state, t}}, x.rows(t, 1));
      // Forgetting keeps a sum in double for each head beside its keys.
      return state.bytes() - (kind == "forgetting" ? length * heads * Index(sizeof(double)) : 0);
    };
    EXPECT_EQ(bytes(1) * heads, bytes(heads)) << kind;
    EXPECT_EQ(bytes(2) * heads / 2, bytes(0)) << kind;
  }
}

TEST(ShortConvolutionFitting, with_all_weight_on_the_token_itself_is_silu) {
  FittedLayer it("dense", {{"conv", Index(4)}});
  std::map<std::string, std::span<Real>> values;
  for (const auto& slot : it.drawn.arena().slots())
    values.emplace(slot.name, it.drawn.arena().value(slot));
  for (const std::string name : {"fittings.conv_q", "fittings.conv_k", "fittings.conv_v"})
    for (std::size_t i = 0; i < values.at(name).size(); ++i) values.at(name)[i] = i % 4 == 3;
  // Identical queries and keys leave the mean of the values, and an output layer of ones sums it.
  for (const std::string name : {"projection.weight", "projection.bias", "output.bias"})
    std::ranges::fill(values.at(name), Real(0));
  std::ranges::fill(values.at("output.weight"), Real(1));
  const Index columns = heads * head_width;
  for (Index c = 2 * columns; c < 3 * columns; ++c)
    values.at("projection.weight")[std::size_t(c * width)] = 1;
  const Tensor x = random_tensor({length, width}, 1);
  const Tensor out = it.forward(x, Sequences::self(1, length, true));
  double sum = 0;
  for (Index t = 0; t < length; ++t) {
    const double v = x.rows(t, 1).read()[0];
    sum += v / (1 + std::exp(-v));
    EXPECT_NEAR(out.rows(t, 1).read()[0], double(columns) * sum / double(t + 1),
                in_double ? 1e-12 : 1e-4);
  }
}

TEST(FittingSettings, says_why_a_mechanism_cannot_have_them) {
  const auto problems = [](const std::string& kind, const Settings& settings) {
    tests::GivenFields fields(settings);
    const AttentionSite site{.width = width, .heads = heads, .head_width = head_width};
    read_attention(fields, kind, site);
    return fields.problems();
  };
  EXPECT_TRUE(problems("dense", {{"kv_heads", Index(3)}}).contains("kv_heads"));
  EXPECT_TRUE(problems("dense", {{"kv_heads", Index(8)}}).contains("kv_heads"));
  for (const std::string kind : {"lsh", "routing", "ssd"})
    EXPECT_TRUE(problems(kind, {{"kv_heads", Index(2)}}).contains("kv_heads")) << kind;
  EXPECT_TRUE(problems("lsh", {{"qk_norm", true}}).contains("qk_norm"));
  EXPECT_TRUE(problems("routing", {{"shared", false}, {"kv_heads", Index(2)}}).empty());
  EXPECT_TRUE(
      problems("dense", {{"projection", "sparse"}, {"kv_heads", Index(2)}}).contains("projection"));
}

}  // namespace
}  // namespace weft::layers::head_fittings_contract_test
