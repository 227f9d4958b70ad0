#include "autograd/pass.h"

namespace weft::autograd::pass_test {
namespace {

struct Step {
  Tape tape;
  Journal journal;
  Pass pass{tape, core::Rng(1), journal};
};

TEST(Pass, is_plain_inference_by_default) {
  EXPECT_EQ(Pass().tape(), nullptr);
  EXPECT_FALSE(Pass().training());
  EXPECT_FALSE(Pass(core::Rng(1)).training());
}

TEST(Pass, draws_from_its_own_stream_at_every_place) {
  const Pass pass(core::Rng(1));
  EXPECT_EQ(pass.at(2).at("x").stream().key(), pass.at(2).at("x").stream().key());
  EXPECT_NE(pass.at(2).stream().key(), pass.at(3).stream().key());
  EXPECT_NE(pass.at("x").stream().key(), pass.at("y").stream().key());
  EXPECT_NE(pass.at("x").at("y").stream().key(), pass.at("y").at("x").stream().key());
}

TEST(Pass, keeps_its_place_when_it_loses_or_changes_its_tape) {
  Step step;
  Tape scratch;
  const Pass here = step.pass.at(4);
  EXPECT_EQ(here.tape(), &step.tape);
  EXPECT_EQ(here.without_tape().tape(), nullptr);
  EXPECT_TRUE(here.without_tape().training());
  EXPECT_EQ(here.replayed_on(scratch).tape(), &scratch);
  EXPECT_TRUE(here.replayed_on(scratch).training());
  EXPECT_EQ(here.without_tape().stream().key(), here.stream().key());
  EXPECT_EQ(here.replayed_on(scratch).stream().key(), here.stream().key());
}

TEST(Pass, makes_a_decision_once_and_reads_it_back_at_replay) {
  Step step;
  Tape scratch;
  int made = 0;
  const auto decide = [&](const Pass& pass) {
    return *pass.decide("buckets", [&] { return std::vector<int>{++made, 7}; });
  };
  const auto first = decide(step.pass);
  EXPECT_EQ(decide(step.pass.without_tape()), first);
  EXPECT_EQ(decide(step.pass.replayed_on(scratch)), first);
  EXPECT_EQ(decide(step.pass.replayed_on(scratch).without_tape()), first);
  EXPECT_EQ(made, 1);
}

TEST(Pass, shares_a_decision_instead_of_copying_it) {
  Step step;
  const auto make = [] { return std::vector<int>(1000, 1); };
  EXPECT_EQ(step.pass.decide("large", make).get(), step.pass.decide("large", make).get());
}

TEST(Pass, decides_at_each_place_and_under_each_name_by_itself) {
  Step step;
  int made = 0;
  const auto make = [&] { return ++made; };
  EXPECT_EQ(*step.pass.at(1).decide("a", make), 1);
  EXPECT_EQ(*step.pass.at(2).decide("a", make), 2);
  EXPECT_EQ(*step.pass.at(1).decide("b", make), 3);
  EXPECT_EQ(*step.pass.at(1).decide("a", make), 1);
}

TEST(Pass, decides_anew_in_the_next_micro_batch) {
  Step step;
  int made = 0;
  const auto make = [&] { return ++made; };
  step.pass.decide("a", make);
  step.journal.forget_decisions();
  EXPECT_EQ(*step.pass.decide("a", make), 2);
}

TEST(Pass, decides_every_time_in_evaluation) {
  int made = 0;
  const Pass pass(core::Rng(1));
  pass.decide("a", [&] { return ++made; });
  pass.decide("a", [&] { return ++made; });
  EXPECT_EQ(made, 2);
}

TEST(Pass, proposes_nothing_at_replay_and_in_evaluation) {
  Step step;
  Tape scratch;
  State state(Tensor({1}, 0), [](auto value, auto sums) { value[0] += sums[0]; });
  step.pass.propose(state, Tensor({1}, 1));
  step.pass.without_tape().propose(state, Tensor({1}, 10));
  step.pass.replayed_on(scratch).propose(state, Tensor({1}, 100));
  step.pass.replayed_on(scratch).without_tape().at(1).propose(state, Tensor({1}, 1000));
  Pass(core::Rng(1)).propose(state, Tensor({1}, 10000));
  step.journal.commit();
  EXPECT_EQ(core::scalar(state.value()), 11);
}

}  // namespace
}  // namespace weft::autograd::pass_test
