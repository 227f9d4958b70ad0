// Fittings around mechanisms whose layers have more rows than tokens.
#include "core/counters.h"
#include "core/parallel.h"
#include "layers/attention/partition/rows.h"
#include "layers/attention/partition/tree.h"
#include "layers/multi_head/multi_head.h"
#include "layers/settings/attention_plans.h"
#include "layers/settings/model_settings.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/drawn_weights.h"

namespace weft::layers::row_fittings_contract_test {
namespace {

using tests::random_tensor;
using tests::same_bits;
using tests::Settings;

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr Index width = 12, heads = 4, head_width = 6, length = 11;

struct Form {
  std::string name, kind;
  Settings settings = {};
  bool causal = false;
};

std::vector<Form> forms() {
  return {{"etc", "etc", {{"window", Index(5)}, {"clip", Index(2)}, {"every", Index(4)}}},
          {"etc_with_own_projections",
           "etc",
           {{"window", Index(5)},
            {"clip", Index(2)},
            {"every", Index(4)},
            {"share", "none"},
            {"hard_l2g", true}}},
          {"bigbird",
           "bigbird",
           {{"form", "etc"},
            {"block", Index(2)},
            {"window", Index(3)},
            {"clip", Index(2)},
            {"every", Index(4)}}},
          {"bp", "bp", {{"fan", Index(2)}, {"clip", Index(2)}}},
          {"bp_causal", "bp", {{"fan", Index(2)}, {"clip", Index(2)}}, true}};
}

const Settings fittings{
    {"kv_heads", Index(2)}, {"qk_norm", true}, {"norm", "rms"}, {"gate", "sigmoid"}};

/// A layer of a form and its weights.
struct RowLayer {
  explicit RowLayer(const Form& form, const Settings& fitted)
      : plans(read(form, fitted)),
        part(plans, site(form), Init::zeros(), Init::zeros(), nullptr),
        drawn(part, 0.3) {}

  static AttentionSite site(const Form& form) {
    return {.width = width,
            .heads = heads,
            .head_width = head_width,
            .length = length,
            .causal = form.causal};
  }
  static std::vector<HeadGroupPlan> read(const Form& form, const Settings& fitted) {
    Settings all = form.settings;
    all.insert(fitted.begin(), fitted.end());
    tests::GivenFields fields(all);
    auto plan = read_attention(fields, form.kind, site(form));
    EXPECT_TRUE(fields.problems().empty()) << form.name;
    return plan;
  }
  const RowRule& rule() const { return *plans.front().attention.rows; }
  /// Rows of two sequences, the second shorter.
  Sequences two() const {
    return laid_out(rule(), padded(Sequences::self(2, length, causal()), {length, 7}));
  }
  Sequences one() const { return laid_out(rule(), Sequences::self(1, length, causal())); }
  bool causal() const { return plans.front().attention.traits.causal; }

  std::vector<HeadGroupPlan> plans;
  MultiHead part;
  DrawnWeights<MultiHead> drawn;
};

class RowFittings : public testing::TestWithParam<Form> {
 protected:
  ~RowFittings() override { core::set_threads(0); }
  RowLayer layer() const { return RowLayer(GetParam(), fittings); }
};

TEST_P(RowFittings, pass_gradients) {
  if (!in_double) GTEST_SKIP() << "differences mean nothing in float";
  RowLayer it = layer();
  const Sequences s = it.two();
  tests::check_gradient(
      "multi_head",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.part.forward(pass, in[0], s); },
      {random_tensor({2 * s.queries, width}, 1)}, it.drawn.arena());
}

TEST_P(RowFittings, read_nothing_of_padding) {
  const RowLayer it = layer();
  const Sequences s = it.two();
  const Index real = s.real_keys(1);
  Tensor x = random_tensor({2 * s.queries, width}, 1);
  const Tensor before = it.part.forward(Pass(), Var(x), s).value();
  for (Real& number : x.write().subspan(std::size_t((s.queries + real) * width))) number += 1;
  const Tensor after = it.part.forward(Pass(), Var(x), s).value();
  EXPECT_TRUE(
      same_bits(before.rows(0, s.queries + real).read(), after.rows(0, s.queries + real).read()));
}

TEST_P(RowFittings, any_number_of_threads_gives_the_same_bits) {
  RowLayer it = layer();
  const Sequences s = it.two();
  const Tensor x = random_tensor({2 * s.queries, width}, 1), up = random_tensor(x.shape(), 2);
  std::vector<std::vector<Real>> all;
  for (const Index threads : {1, 3}) {
    core::set_threads(threads);
    it.drawn.arena().zero_gradients();
    autograd::Tape tape;
    autograd::Journal journal;
    const Var leaf = tape.watch(x);
    const Var out = it.part.forward(Pass(tape, core::Rng(3), journal), leaf, s);
    tape.sweep(out, up);
    std::vector<Real>& numbers = all.emplace_back();
    for (const auto part : {out.value().read(), tape.gradient(leaf).read(),
                            std::span<const Real>(it.drawn.arena().gradients())})
      numbers.insert(numbers.end(), part.begin(), part.end());
  }
  EXPECT_TRUE(same_bits(all[0], all[1]));
}

TEST_P(RowFittings, stated_flops_are_what_the_kernels_count) {
  const RowLayer it = layer();
  const Sequences s = it.one();
  const Index before = core::counters().flops;
  it.part.forward(Pass(), Var(random_tensor({s.queries, width}, 1)), s);
  EXPECT_EQ(core::counters().flops - before,
            it.part.cost(s).flops + 2 * s.queries * it.part.weights());
}

TEST_P(RowFittings, as_many_shared_heads_as_heads_change_nothing) {
  const RowLayer own(GetParam(), {}), all(GetParam(), {{"kv_heads", heads}});
  const Sequences s = own.two();
  const Tensor x = random_tensor({2 * s.queries, width}, 1);
  EXPECT_TRUE(same_bits(own.part.forward(Pass(), Var(x), s).value().read(),
                        all.part.forward(Pass(), Var(x), s).value().read()));
}

TEST_P(RowFittings, include_no_convolution) {
  ModelSettings settings;
  settings.heads = heads;
  settings.width = heads * head_width;
  settings.causal = GetParam().causal;
  settings.attention = {GetParam().name};
  const AttentionPlans plans{{GetParam().name, RowLayer::read(GetParam(), {{"conv", Index(3)}})}};
  tests::GivenFields fields;
  check_rows(fields, settings, plans);
  ASSERT_TRUE(fields.problems().contains("attention"));
  EXPECT_NE(fields.problems().at("attention").find("conv = 0"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Forms, RowFittings, testing::ValuesIn(forms()),
                         [](const auto& form) { return form.param.name; });

// Rows of tokens and of the spans that they complete, as a model's trunk steps through them.
TEST(RowFittingsInDecoding, give_what_the_whole_pass_gives) {
  const RowLayer it(forms().back(), fittings);
  ASSERT_TRUE(it.causal());
  const Sequences s = it.one();
  const RowLayout& layout = (*s.rows)[0];
  const Tensor x = random_tensor({s.queries, width}, 1);
  const Tensor whole = it.part.forward(Pass(), Var(x), s).value();
  MultiHeadState state = it.part.begin();
  const PartitionTree tree(length);
  for (Index t = 0; t < length; ++t) {
    const Index row = layout.of_tokens[std::size_t(t)];
    tests::expect_close(it.part.step({{&state, t}}, x.rows(row, 1)).read(),
                        tests::in_double(whole.rows(row, 1).read()), in_double ? 1e-10 : 1e-4);
    for (const Index other : it.rule().completed_by(t)) {
      const Index node =
          tree.first(PartitionRows::level_of(other)) + PartitionRows::index_of(other);
      it.part.step({{&state, other}}, x.rows(node, 1));
    }
  }
}

}  // namespace
}  // namespace weft::layers::row_fittings_contract_test
