// What a mechanism brings beside attending: projections of its own choice, parameters, states, a
// penalty on the loss, a projection after the step.
#include "tests/layers/model/sample_model.h"

namespace weft::layers::mechanism_hooks_contract_test {
namespace {

// What the model asked of its mechanisms.
struct Calls {
  std::vector<std::uint64_t> forward, penalty;
  Index projected = 0;
};

// Passes its only projection on. Its penalty is its parameter, and each forward pass counts one
// into its state.
class Passing final : public Attention {
 public:
  Passing(const AttentionSite& site, std::shared_ptr<Calls> calls)
      : columns_(site.heads * site.head_width), calls_(std::move(calls)) {}

  std::vector<Projection> projections() const override {
    return {{"v", Projection::Side::keys, false}};
  }
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    calls_->forward.push_back(pass.stream().key());
    pass.propose(count_, Tensor({1}, 1));
    return autograd::slice(input.blocks[0].matrix, input.blocks[0].first, columns_);
  }
  struct Nothing final : CopiedState<Nothing> {
    Index bytes() const override { return 0; }
  };
  std::unique_ptr<DecodeState> begin() const override { return std::make_unique<Nothing>(); }
  void step(DecodeState&, const StepInput& input, std::span<Real> out) const override {
    std::ranges::copy(input.blocks[0], out.begin());
  }
  Cost cost(const Sequences&) const override { return {}; }
  void visit(autograd::Inventory& inventory) override {
    inventory.add("price", price_);
    inventory.add("count", count_);
  }
  Var penalty(const Pass& pass) const override {
    calls_->penalty.push_back(pass.stream().key());
    return autograd::as_variable(pass, price_);
  }
  void constrain() override { ++calls_->projected; }
  std::vector<Metric> metrics() const override {
    return {{"forward", double(calls_->forward.size())}};
  }

 private:
  Index columns_;
  std::shared_ptr<Calls> calls_;
  autograd::Parameter price_{{1}, autograd::Init::ones()};
  mutable autograd::State count_{
      Tensor({1}, 0), [](std::span<Real> value, std::span<const Real> n) { value[0] += n[0]; }};
};

// Two layers, each of two head groups that pass on.
struct PassingModel {
  explicit PassingModel(bool recompute = false)
      : model(settings(), plans(calls), 11, 6, recompute), drawn(model) {}

  static ModelSettings settings() {
    ModelSettings s = small_settings();
    s.attention = {"passing"};
    return s;
  }
  static AttentionPlans plans(const std::shared_ptr<Calls>& calls) {
    const AttentionMaker make = [calls](const AttentionSite& site) {
      return std::make_unique<Passing>(site, calls);
    };
    return {{"passing", {{{make}, 1}, {{make}, 1}}}};
  }
  autograd::Inventory inventory() {
    autograd::Inventory all;
    model.visit(all);
    return all;
  }

  const core::Tokens tokens = tests::random_tokens({2, 6}, 11, 1);
  std::shared_ptr<Calls> calls = std::make_shared<Calls>();
  LanguageModel model;
  DrawnWeights<LanguageModel> drawn;
};

TEST(MechanismHooks, parameters_and_states_stand_under_the_path_of_their_group) {
  PassingModel it;
  const auto inventory = it.inventory();
  std::vector<std::string> prices, counts;
  for (const auto& named : inventory.parameters())
    if (named.name.ends_with(".price")) prices.push_back(named.name);
  for (const auto& named : inventory.states()) counts.push_back(named.name);
  EXPECT_EQ(prices,
            (std::vector<std::string>{
                "layers.0.attention.mechanism0.price", "layers.0.attention.mechanism1.price",
                "layers.1.attention.mechanism0.price", "layers.1.attention.mechanism1.price"}));
  EXPECT_EQ(counts,
            (std::vector<std::string>{
                "layers.0.attention.mechanism0.count", "layers.0.attention.mechanism1.count",
                "layers.1.attention.mechanism0.count", "layers.1.attention.mechanism1.count"}));
}

TEST(MechanismHooks, penalties_join_the_loss_by_its_share_and_reach_their_parameters) {
  PassingModel it;
  autograd::Tape tape;
  autograd::Journal journal;
  const auto loss_at = [&](const Pass& pass, Real share) {
    return it.model.loss(pass, {it.tokens, it.tokens}, share);
  };
  const Var loss = loss_at(Pass(tape, core::Rng(3), journal), Real(0.5));
  double prices = 0;
  for (const auto& [name, value] : it.drawn.weights())
    if (name.ends_with(".price")) prices += value.numbers[0];
  for (const auto& s : it.drawn.arena().slots())
    if (s.name.ends_with(".price")) it.drawn.arena().value(s)[0] = 0;
  const double without = core::scalar(loss_at(Pass(), Real(0.5)).value());
  EXPECT_NEAR(core::scalar(loss.value()), without + prices / 2, 1e-5);
  tape.sweep(loss);
  for (const auto& s : it.drawn.arena().slots())
    if (s.name.ends_with(".price")) {
      EXPECT_NEAR(it.drawn.arena().gradients()[std::size_t(s.offset)], 0.5, 1e-6) << s.name;
    }
}

TEST(MechanismHooks, a_penalty_is_asked_for_at_the_place_of_its_forward) {
  for (const bool recompute : {false, true}) {
    PassingModel it(recompute);
    autograd::Tape tape;
    autograd::Journal journal;
    it.model.loss(Pass(tape, core::Rng(3), journal), {it.tokens, it.tokens}, 1);
    ASSERT_EQ(it.calls->forward.size(), 4u);
    EXPECT_EQ(it.calls->penalty, it.calls->forward);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_NE(it.calls->forward[i], it.calls->forward[0]);
  }
}

TEST(MechanismHooks, a_state_hears_of_each_training_pass_once_even_when_it_is_recomputed) {
  for (const bool recompute : {false, true}) {
    PassingModel it(recompute);
    autograd::Journal journal;
    for (const std::uint64_t micro : {0, 1}) {
      autograd::Tape tape;
      const Var loss =
          it.model.loss(Pass(tape, core::Rng(3).fold(micro), journal), {it.tokens, it.tokens}, 1);
      tape.sweep(loss);
    }
    it.model.loss(Pass(), {it.tokens, it.tokens}, 1);  // evaluation proposes nothing
    journal.commit();
    const auto inventory = it.inventory();
    for (const auto& named : inventory.states())
      EXPECT_EQ(named.state->value().read()[0], 2) << named.name;
  }
}

TEST(MechanismHooks, an_inventory_constrains_every_group_of_every_layer) {
  PassingModel it;
  it.inventory().constrain();
  EXPECT_EQ(it.calls->projected, 4);
}

TEST(MechanismHooks, an_inventory_reports_every_mechanism_under_its_path) {
  PassingModel it;
  it.model.loss(Pass(), {it.tokens, it.tokens}, 1);
  std::vector<std::string> names;
  for (const autograd::Metric& metric : it.inventory().metrics()) {
    EXPECT_EQ(metric.value, 4);
    names.push_back(metric.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "layers.0.attention.mechanism0.forward", "layers.0.attention.mechanism1.forward",
                "layers.1.attention.mechanism0.forward", "layers.1.attention.mechanism1.forward"}));
}

TEST(MechanismHooks, a_mechanism_decodes_with_the_projections_it_declared) {
  PassingModel it;
  const Tensor whole = it.model.logits(it.model.hidden(Pass(), it.tokens).value());
  auto states = it.model.begin();
  for (Index t = 0; t < 6; ++t)
    tests::expect_close(it.model.step(states, it.tokens.read()[std::size_t(t)]).read(),
                        tests::in_double(whole.rows(t, 1).read()), 1000 * tests::epsilon);
}

TEST(MechanismHooks, named_attentions_repeat_to_fill_the_layers) {
  ModelSettings settings = small_settings();
  settings.layers = 5;
  settings.attention = {"a", "b", "b"};
  std::vector<std::pair<std::string, Index>> made;
  const auto noting = [&made](const std::string& name) -> AttentionMaker {
    return [&made, name](const AttentionSite& site) {
      EXPECT_EQ(site.layers, 5);
      EXPECT_EQ(site.heads, 2);
      EXPECT_EQ(site.head_width, 4);
      EXPECT_EQ(site.length, 6);
      made.emplace_back(name, site.layer);
      return std::make_unique<Passing>(site, std::make_shared<Calls>());
    };
  };
  LanguageModel model(settings, {{"a", {{{noting("a")}, 2}}}, {"b", {{{noting("b")}, 2}}}}, 11, 6);
  EXPECT_EQ(made, (std::vector<std::pair<std::string, Index>>{
                      {"a", 0}, {"b", 1}, {"b", 2}, {"a", 3}, {"b", 4}}));
}

}  // namespace
}  // namespace weft::layers::mechanism_hooks_contract_test
