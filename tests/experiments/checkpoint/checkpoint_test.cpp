#include "experiments/checkpoint/checkpoint.h"

#include "core/error.h"
#include "tests/experiments/checkpoint/checkpoint_sample.h"

namespace weft::experiments::checkpoint_test {
namespace {

Checkpoint two_parameters() {
  Checkpoint checkpoint;
  checkpoint.path = "some.h5";
  checkpoint.facts = {{"rng/seed", std::int64_t(7)}, {"meta/best", 0.5}, {"meta/isa", "avx2"}};
  checkpoint.arrays["params/a"] = {{2, 2}, {1, 2, 3, 4}};
  checkpoint.arrays["params/b"] = {{3}, {5, 6, 7}};
  checkpoint.arrays["states/c"] = {{1}, {8}};
  return checkpoint;
}

TEST(Checkpoint, hands_out_facts_by_name_and_kind) {
  const Checkpoint checkpoint = two_parameters();
  EXPECT_EQ(checkpoint.integer("rng/seed"), 7);
  EXPECT_EQ(checkpoint.number("meta/best"), 0.5);
  EXPECT_EQ(checkpoint.text("meta/isa"), "avx2");
  EXPECT_TRUE(contains(message_when([&] { checkpoint.integer("rng/sead"); }), "'rng/sead'"));
  EXPECT_TRUE(contains(message_when([&] { checkpoint.integer("meta/isa"); }), "integer"));
}

TEST(Checkpoint, hands_out_an_array_only_in_its_shape) {
  const Checkpoint checkpoint = two_parameters();
  EXPECT_EQ(checkpoint.array("params/b", {3}), (std::vector<core::Real>{5, 6, 7}));
  EXPECT_THROW(checkpoint.array("params/b", {1, 3}), core::Error);
  EXPECT_THROW(checkpoint.array("params/z", {3}), core::Error);
}

TEST(Checkpoint, restores_a_group_to_where_it_belongs) {
  std::vector<core::Real> a(4), b(3);
  two_parameters().restore("params",
                           std::vector<NamedArray>{{"params/a", {2, 2}, a}, {"params/b", {3}, b}});
  EXPECT_EQ(a, (std::vector<core::Real>{1, 2, 3, 4}));
  EXPECT_EQ(b, (std::vector<core::Real>{5, 6, 7}));
}

TEST(Checkpoint, names_every_difference_at_once_and_copies_nothing) {
  std::vector<core::Real> a(4, -1), z(2, -1);
  const std::vector<NamedArray> targets{{"params/a", {4}, a}, {"params/z", {2}, z}};
  try {
    two_parameters().restore("params", targets);
    FAIL();
  } catch (const core::Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.fault(), core::Fault::checkpoint);
    EXPECT_TRUE(contains(text, "3 differences")) << text;
    EXPECT_TRUE(contains(text, "params/a: [4] in the model, [2, 2] in the checkpoint")) << text;
    EXPECT_TRUE(contains(text, "params/z: [2] in the model, absent from the checkpoint")) << text;
    EXPECT_TRUE(contains(text, "params/b: [3] in the checkpoint, absent from the model")) << text;
  }
  EXPECT_EQ(a, std::vector<core::Real>(4, -1));
}

}  // namespace
}  // namespace weft::experiments::checkpoint_test
