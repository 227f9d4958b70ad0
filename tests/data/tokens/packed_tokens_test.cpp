#include "data/tokens/packed_tokens.h"

#include "core/error.h"

namespace weft::data::packed_tokens_test {
namespace {

TEST(PackedTokens, give_back_every_token_at_every_width) {
  for (const core::Index vocabulary : {2, 256, 257, 65536, 65537, 1000000}) {
    std::vector<core::Token> written;
    for (int i = 0; i < 1000; ++i) {
      written.push_back(core::Token((vocabulary - 1 + i * core::Index(7919)) % vocabulary));
    }
    PackedTokens packed(vocabulary);
    packed.reserve(1000);
    for (const core::Token token : written) packed.append(token);
    std::vector<core::Token> read(written.size());
    packed.read(0, read);
    EXPECT_EQ(packed.size(), 1000);
    EXPECT_EQ(read, written) << vocabulary;
  }
}

TEST(PackedTokens, read_any_stretch_and_nothing_beyond_the_end) {
  PackedTokens packed(300);
  for (core::Token i = 0; i < 300; ++i) packed.append(i);
  std::vector<core::Token> read(5);
  packed.read(295, read);
  EXPECT_EQ(read, (std::vector<core::Token>{295, 296, 297, 298, 299}));
  EXPECT_THROW(packed.read(296, read), core::Error);
  EXPECT_THROW(packed.read(-1, read), core::Error);
}

}  // namespace
}  // namespace weft::data::packed_tokens_test
