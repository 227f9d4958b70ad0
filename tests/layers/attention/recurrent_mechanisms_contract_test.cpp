// What the mechanisms on the recurrence keep to beside the contract of all.
#include "core/counters.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::recurrent_mechanisms_contract_test {
namespace {

const std::vector<std::string> kinds{"retention",      "gla", "ssd", "deltanet",
                                     "gated_deltanet", "kda", "gdn2"};

TEST(RecurrentMechanisms, decode_with_state_and_work_that_do_not_grow_with_the_position) {
  for (const std::string& kind : kinds) {
    const AttentionSample it(kind, Sequences::self(1, 200, true), 2, 8);
    const auto state = it.attention().begin();
    const Index bytes = state->bytes();
    EXPECT_GE(bytes, 2 * 8 * 8 * Index(sizeof(Real))) << kind;
    Index first = 0;
    std::vector<Real> out(std::size_t(it.width()));
    for (Index t = 0; t < 200; ++t) {
      StepInput step{{}, it.inputs().back().rows(t, 1).read(), t};
      for (std::size_t i = 0; i + 1 < it.inputs().size(); ++i)
        step.blocks.push_back(it.inputs()[i].rows(t, 1).read());
      const Index before = core::counters().flops;
      it.attention().step(*state, step, out);
      const Index work = core::counters().flops - before;
      if (t == 0) first = work;
      ASSERT_EQ(work, first) << kind << " at " << t;
      ASSERT_EQ(state->bytes(), bytes) << kind << " at " << t;
    }
  }
}

TEST(RecurrentMechanisms, start_with_decays_that_neither_forget_all_nor_keep_all) {
  for (const std::string kind : {"ssd", "gated_deltanet"}) {
    const AttentionSample it(kind, Sequences::self(1, 4, true), 64, 2);
    for (const auto& [name, parameter] : it.inventory().parameters())
      for (const Real x : parameter->value().read()) {
        if (name == "log_rate") {
          EXPECT_GE(x, std::log(kind == "ssd" ? 1.0 : 0.01) - 1e-5);
          EXPECT_LE(x, std::log(16.0) + 1e-5);
        } else if (name.ends_with(".bias")) {
          const double step = std::log1p(std::exp(double(x)));
          EXPECT_GE(step, 1e-3 * 0.999) << kind;
          EXPECT_LE(step, 0.1 * 1.001) << kind;
        }
      }
  }
}

TEST(RecurrentMechanisms, heads_of_a_later_group_retain_longer) {
  tests::GivenFields fields;
  AttentionSite site{.width = 8, .heads = 2, .head_width = 4, .length = 50, .causal = true};
  std::vector<Tensor> outs;
  for (const Index first : {0, 2}) {
    site.first_head = first;
    const auto attention = find_attention("retention")->configure(fields, site).make(site);
    autograd::Inventory inventory;
    attention->visit(inventory);
    autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::training);
    arena.initialise(core::Rng(1));
    AttentionInput input{{}, Var(tests::random_tensor({50, 8}, 4)), Sequences::self(1, 50, true)};
    for (const std::uint64_t seed : {1, 2, 3})
      input.blocks.push_back({Var(tests::random_tensor({50, 8}, seed)), 0});
    outs.push_back(attention->forward(Pass(), input).value());
  }
  EXPECT_FALSE(tests::same_bits(outs[0].read(), outs[1].read()));
}

TEST(RecurrentMechanisms, shared_keys_must_divide_the_heads) {
  tests::GivenFields fields({{"key_heads", Index(3)}});
  const AttentionSite site{.width = 8, .heads = 4, .head_width = 2, .length = 5, .causal = true};
  find_attention("ssd")->configure(fields, site);
  EXPECT_TRUE(fields.problems().contains("key_heads"));
}

}  // namespace
}  // namespace weft::layers::recurrent_mechanisms_contract_test
