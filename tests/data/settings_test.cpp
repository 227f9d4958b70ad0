#include "data/settings.h"

#include "data/registry.h"
#include "data/tasks/noise.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"

namespace weft::data::settings_test {
namespace {

TEST(DataSettings, lists_only_the_settings_of_the_chosen_kind) {
  const GivenData recall({}), text({{"kind", string("text")}, {"path", string("book.txt")}});
  EXPECT_EQ(recall.fields.visited(), (Keys{"kind", "length", "symbols", "keys", "payload", "gap",
                                           "successors", "language", "stream", "held_out"}));
  EXPECT_EQ(recall.problems(), Keys{});
  EXPECT_EQ(text.fields.visited(),
            (Keys{"kind", "length", "path", "train_path", "validation_path", "test_path", "units",
                  "documents", "sampling", "masking", "fractions"}));
  EXPECT_EQ(text.problems(), Keys{});
}

TEST(DataSettings, plan_the_dataset_they_describe) {
  const auto recall = GivenData({}).make(4, 1);
  EXPECT_EQ(recall->unit(), "symbol");
  EXPECT_EQ(recall->length(), 128);
  EXPECT_FALSE(recall->scored_part().has_value());
  const auto noise = GivenData({{"kind", string("noise")}, {"length", Index(64)}}).make(4, 1);
  EXPECT_EQ(noise->vocabulary(), 256);
  EXPECT_EQ(noise->length(), 64);
  EXPECT_EQ(noise->training(0).inputs.shape(), (core::Shape{4, 64}));
}

TEST(DataSettings, refuse_what_no_dataset_can_be) {
  EXPECT_EQ(GivenData({{"kind", string("sound")}}).problems(), Keys{"kind"});
  EXPECT_EQ(GivenData({{"length", Index(0)}}).problems(), Keys{"length"});
  EXPECT_THROW(GivenData({}).make(0, 1), core::Error);
  expect_says(refusal_of([] { DataSettings{}.plan.make(1, 1); }), core::Fault::usage, "fields()");
}

TEST(DataSettings, traits_are_what_the_dataset_does) {
  const tests::Settings listops{{"kind", string("listops")}, {"held_out", Index(4)}};
  tests::Settings padded = listops, full = listops;
  padded["shortest"] = Index(10);
  full["shortest"] = full["length"] = Index(20);
  for (const tests::Settings& given :
       {tests::Settings{}, tests::Settings{{"stream", Index(256)}},
        tests::Settings{{"kind", string("noise")}},
        tests::Settings{{"kind", string("noise")}, {"stream", Index(384)}},
        tests::Settings{{"kind", string("duplicate")}},
        tests::Settings{{"kind", string("duplicate")}, {"form", string("seq2seq")}}, padded,
        full}) {
    const GivenData data(given);
    ASSERT_EQ(data.problems(), Keys{});
    const auto dataset = data.make(2, 1);
    const Batch batch = dataset->training(1);
    EXPECT_EQ(data.traits().streams, batch.continues);
    EXPECT_EQ(data.traits().sources, dataset->source_length() > 0);
    EXPECT_EQ(data.traits().pads, batch.lengths != nullptr);
    EXPECT_EQ(data.traits().classifies, dataset->classes() > 0);
    EXPECT_EQ(dataset->length(), batch.inputs.shape().back());
  }
}

/// Data of a program that uses the library: noise of as many symbols as a sequence has tokens.
DataPlan configure_own(core::Fields& fields, Index length) {
  NoiseSettings settings{.symbols = length};
  fields.integer("kept", settings.held_out, "a setting of its own");
  return plan_for<Noise>(settings, length);
}

TEST(DataRegistry, takes_kinds_of_other_programs) {
  register_data_kind("own", configure_own);
  const GivenData own({{"kind", string("own")}, {"length", Index(33)}});
  EXPECT_EQ(own.fields.visited(), (Keys{"kind", "length", "kept"}));
  EXPECT_EQ(own.make(1, 1)->vocabulary(), 33);
  expect_says(refusal_of([] { register_data_kind("text", configure_own); }), core::Fault::usage,
              "'text'", "another name");
}

}  // namespace
}  // namespace weft::data::settings_test
