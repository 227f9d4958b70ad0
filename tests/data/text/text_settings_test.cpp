#include "tests/data/given_data.h"
#include "tests/data/scratch_file.h"

namespace weft::data::text_settings_test {
namespace {

GivenData text(tests::Settings given) {
  given["kind"] = string("text");
  return GivenData(std::move(given));
}

TEST(TextSettings, report_what_does_not_go_together) {
  EXPECT_EQ(text({}).problems(), Keys{"path"});
  EXPECT_EQ(text({{"path", string("book.txt")}}).problems(), Keys{});
  using Shares = std::vector<double>;
  for (const Shares& shares : {Shares{0.5, 0.5}, Shares{0.9, 0.1, 0.1}})
    EXPECT_EQ(text({{"path", string("book.txt")}, {"fractions", shares}}).problems(),
              Keys{"fractions"});
  EXPECT_EQ(text({{"path", string("book.txt")}, {"train_path", string("a.txt")}}).problems(),
            Keys{"path"});
  EXPECT_EQ(text({{"train_path", string("train.txt")}}).problems(), Keys{});
  EXPECT_EQ(text({{"test_path", string("test.txt")}}).problems(), Keys{"train_path"});
  EXPECT_EQ(text({{"train_path", string("book.h5")}}).problems(), Keys{"train_path"});
  const GivenData masked({{"kind", string("text")},
                          {"path", string("book.txt")},
                          {"masking", string("bert")},
                          {"sampling", string("streams")}});
  EXPECT_EQ(masked.problems(), Keys{"sampling"});
}

TEST(TextSettings, fractions_divide_one_file_that_is_not_prepared) {
  EXPECT_TRUE(text({{"path", string("book.txt")}}).lists("fractions"));
  EXPECT_FALSE(text({{"path", string("book.h5")}}).lists("fractions"));
  EXPECT_FALSE(text({{"train_path", string("a")}, {"test_path", string("b")}}).lists("fractions"));
  EXPECT_TRUE(text({{"train_path", string("a")}}).lists("units"));
  EXPECT_FALSE(text({{"path", string("book.h5")}}).lists("units"));
}

TEST(TextSettings, masking_brings_its_own_settings) {
  EXPECT_FALSE(text({}).lists("mask_share"));
  const GivenData bert = text({{"masking", string("bert")}});
  EXPECT_TRUE(bert.lists("mask_share"));
  EXPECT_FALSE(bert.lists("mask_span"));
  const GivenData spans = text({{"masking", string("spans")}});
  EXPECT_TRUE(spans.lists("mask_share"));
  EXPECT_TRUE(spans.lists("mask_span"));
}

TEST(TextSettings, plan_a_text_or_one_with_hidden_tokens) {
  const ScratchFile file(std::string(1000, 'a'));
  const GivenData plain = text({{"path", file.path()}, {"sampling", string("streams")}});
  EXPECT_TRUE(plain.traits().streams);
  EXPECT_FALSE(plain.traits().masks);
  EXPECT_EQ(plain.make(4, 1)->unit(), "byte");
  EXPECT_FALSE(plain.make(4, 1)->floor_bits().has_value());
  EXPECT_FALSE(plain.make(4, 1)->chance().has_value());
  const GivenData masked = text({{"path", file.path()}, {"masking", string("bert")}});
  EXPECT_FALSE(masked.traits().streams);
  EXPECT_TRUE(masked.traits().masks);
  EXPECT_EQ(masked.make(4, 1)->unit(), "masked byte");
  EXPECT_EQ(masked.make(4, 1)->length(), 128);
}

}  // namespace
}  // namespace weft::data::text_settings_test
