#include "autograd/parameter_arena.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "tests/closeness.h"

namespace weft::autograd::parameter_arena_test {
namespace {

using core::Index;
using core::Real;
using core::Shape;
using tests::same_bits;

struct Part {
  Parameter weight{{3, 5}, Init::normal(0.5)}, bias{{3}, Init::zeros()};

  void visit(Inventory& inventory) {
    inventory.add("weight", weight);
    inventory.add("bias", bias);
  }
};

struct Model {
  Part first, second;
  Parameter gain{{7}, Init::ones()}, table{{11, 2}, Init::uniform(0.25)};

  Inventory inventory() {
    Inventory all;
    all.enter("first", first);
    all.add("gain", gain);
    all.enter("second", second);
    all.add("table", table);
    return all;
  }
};

using Use = ParameterArena::Use;

TEST(ParameterArena, names_parameters_by_their_path_in_the_order_of_the_model) {
  Model model;
  const ParameterArena arena(model.inventory(), Use::training);
  std::vector<std::string> names;
  for (const auto& slot : arena.slots()) names.push_back(slot.name);
  EXPECT_EQ(names, (std::vector<std::string>{"first.weight", "first.bias", "gain", "second.weight",
                                             "second.bias", "table"}));
}

TEST(ParameterArena, lays_parameters_out_one_after_the_other_on_cache_lines) {
  Model model;
  ParameterArena arena(model.inventory(), Use::training);
  Index end = 0, count = 0;
  for (const auto& slot : arena.slots()) {
    EXPECT_GE(slot.offset, end);
    EXPECT_EQ(slot.offset * Index(sizeof(Real)) % 64, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.value(slot).data()) % 64, 0u);
    EXPECT_EQ(slot.size, slot.shape.size());
    EXPECT_EQ(slot.decays, slot.shape.rank() >= 2);
    end = slot.offset + slot.size;
    count += slot.size;
  }
  EXPECT_EQ(arena.count(), count);
  EXPECT_GE(arena.size(), end);
  EXPECT_EQ(Index(arena.values().size()), arena.size());
  EXPECT_EQ(Index(arena.gradients().size()), arena.size());
}

TEST(ParameterArena, lends_its_arrays_to_the_parameters) {
  Model model;
  ParameterArena arena(model.inventory(), Use::training);
  const auto& slot = arena.slots()[3];
  EXPECT_EQ(model.second.weight.data(), arena.value(slot).data());
  EXPECT_EQ(model.second.weight.gradient().data(), arena.gradients().data() + slot.offset);
  EXPECT_EQ(Index(model.second.weight.gradient().size()), slot.size);
  arena.value(slot)[4] = 9;
  EXPECT_EQ(model.second.weight.value().read()[4], 9);
}

TEST(ParameterArena, has_no_gradients_for_inference) {
  Model model;
  ParameterArena arena(model.inventory(), Use::inference);
  EXPECT_TRUE(arena.gradients().empty());
  EXPECT_TRUE(model.gain.gradient().empty());
  arena.zero_gradients();
}

TEST(ParameterArena, initialises_by_the_law_of_each_parameter) {
  Model model;
  ParameterArena arena(model.inventory(), Use::training);
  arena.initialise(core::Rng(1));
  for (const Real v : model.gain.value().read()) EXPECT_EQ(v, 1);
  for (const Real v : model.first.bias.value().read()) EXPECT_EQ(v, 0);
  for (const Real v : model.table.value().read()) EXPECT_LT(std::abs(v), Real(0.25));
  EXPECT_FALSE(same_bits(model.first.weight.value().read(), model.second.weight.value().read()));
}

TEST(ParameterArena, draws_normal_numbers_of_the_asked_deviation) {
  Parameter large({300, 300}, Init::normal(0.02));
  Inventory inventory;
  inventory.add("large", large);
  ParameterArena arena(inventory, Use::training);
  arena.initialise(core::Rng(1));
  double squares = 0;
  for (const Real v : large.value().read()) squares += double(v) * v;
  EXPECT_NEAR(std::sqrt(squares / 90000), 0.02, 0.02 * 4 / std::sqrt(2 * 90000));
}

TEST(ParameterArena, maps_numbers_drawn_evenly_from_0_to_1) {
  Parameter mapped({1000}, Init::mapped([](double u) { return 3 + 2 * u; }));
  Inventory inventory;
  inventory.add("mapped", mapped);
  ParameterArena arena(inventory, Use::training);
  arena.initialise(core::Rng(1));
  double sum = 0;
  for (const Real v : mapped.value().read()) {
    EXPECT_GE(v, 3);
    EXPECT_LE(v, 5);
    sum += v;
  }
  EXPECT_NEAR(sum / 1000, 4, 4 * 2 / std::sqrt(12 * 1000.0));
}

TEST(ParameterArena, starts_a_parameter_the_same_whatever_else_the_model_has) {
  Model model;
  ParameterArena arena(model.inventory(), Use::training);
  arena.initialise(core::Rng(1));
  Part alone;
  Inventory inventory;
  inventory.enter("second", alone);
  ParameterArena other(inventory, Use::training);
  other.initialise(core::Rng(1));
  EXPECT_TRUE(same_bits(alone.weight.value().read(), model.second.weight.value().read()));
  other.initialise(core::Rng(2));
  EXPECT_FALSE(same_bits(alone.weight.value().read(), model.second.weight.value().read()));
}

TEST(ParameterArena, starts_with_zero_gradients_and_zeroes_them_on_request) {
  Model model;
  ParameterArena arena(model.inventory(), Use::training);
  const auto all_zero = [&] {
    return std::ranges::all_of(arena.gradients(), [](Real v) { return v == 0; });
  };
  EXPECT_TRUE(all_zero());
  model.table.gradient()[3] = 5;
  EXPECT_FALSE(all_zero());
  arena.zero_gradients();
  EXPECT_TRUE(all_zero());
}

TEST(ParameterArena, serves_parameters_that_moved_after_it_was_made) {
  Part part;
  Inventory inventory;
  part.visit(inventory);
  ParameterArena arena(inventory, Use::training);
  const Part moved = std::move(part);
  arena.value(arena.slots()[0])[0] = 3;
  EXPECT_EQ(moved.weight.value().read()[0], 3);
}

TEST(ParameterArena, may_be_empty) {
  ParameterArena arena(Inventory{}, Use::training);
  EXPECT_EQ(arena.count(), 0);
  EXPECT_TRUE(arena.values().empty());
  arena.initialise(core::Rng(1));
}

TEST(Inventory, refuses_a_name_or_a_parameter_listed_twice) {
  Part part;
  Inventory inventory;
  inventory.add("weight", part.weight);
  EXPECT_THROW(inventory.add("weight", part.bias), core::Error);
  EXPECT_THROW(inventory.add("tied", part.weight), core::Error);
}

TEST(Inventory, lists_states_beside_parameters) {
  struct Counting {
    State seen{core::Tensor({1}, 0), [](auto, auto) {}};
    void visit(Inventory& inventory) { inventory.add("seen", seen); }
  } counting;
  Inventory inventory;
  inventory.enter("layers", counting);
  ASSERT_EQ(inventory.states().size(), 1u);
  EXPECT_EQ(inventory.states()[0].name, "layers.seen");
  EXPECT_EQ(inventory.states()[0].state, &counting.seen);
  EXPECT_TRUE(inventory.parameters().empty());
}

}  // namespace
}  // namespace weft::autograd::parameter_arena_test
