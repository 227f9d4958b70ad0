// Sequences cut into chunks of columns: values and gradients are those of whole sequences.
#include "core/memory.h"
#include "tests/closeness.h"
#include "tests/layers/multi_head/chunked_layer.h"

namespace weft::layers::chunks_contract_test {
namespace {

constexpr double tolerance = 2000 * tests::epsilon;

class ChunksOfSequences : public testing::TestWithParam<ChunkedCase> {
 protected:
  ChunkedLayer layer() const {
    const ChunkedCase& own = GetParam();
    return {own.kind, own.settings, own.rotary, 2, 53};
  }
};

TEST_P(ChunksOfSequences, give_what_whole_sequences_give) {
  ChunkedLayer it = layer();
  DrawnWeights drawn(it.part());
  const Tensor x = tests::random_tensor({2 * 53, it.width}, 1),
               dy = tests::random_tensor({2 * 53, it.width}, 2);
  const auto whole = it.run(x, dy, 1);
  const std::vector<double> expected = tests::in_double(drawn.arena().gradients());
  for (const Index chunks : {2, 3, 4, 7, 53}) {
    SCOPED_TRACE(core::message_of(chunks, " chunks"));
    drawn.arena().zero_gradients();
    const auto cut = it.run(x, dy, chunks);
    const auto y = it.cut(whole.y[0], chunks), dx = it.cut(whole.dx[0], chunks);
    for (std::size_t c = 0; c < y.size(); ++c) {
      tests::expect_close(cut.y[c].read(), tests::in_double(y[c].read()), tolerance);
      tests::expect_close(cut.dx[c].read(), tests::in_double(dx[c].read()), tolerance);
    }
    tests::expect_close(drawn.arena().gradients(), expected, tolerance);
  }
}

TEST_P(ChunksOfSequences, send_what_the_closed_form_says) {
  ChunkedLayer it = layer();
  const DrawnWeights drawn(it.part());
  const core::ChunkCut cut{53, 4};
  for (Index from = 0; from < 4; ++from)
    for (Index to = 0; to < 4; ++to) {
      const core::Traffic there = it.part().chunk_traffic(cut, 2, from, to),
                          back = it.part().chunk_traffic(cut, 2, to, from);
      EXPECT_EQ(there, back) << from << " to " << to;
      EXPECT_EQ(there.messages > 0, there.bytes > 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Layers, ChunksOfSequences, testing::ValuesIn(chunked_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(LeftReach, of_a_window_does_not_grow_with_the_sequence) {
  const Index window = 7, columns = ChunkedLayer::heads * ChunkedLayer::head_width;
  for (const Index length : {64, 6400}) {
    ChunkedLayer it("local", {{"window", window}}, false, 1, length);
    for (Index from = 0; from < 4; ++from)
      for (Index to = 0; to < 4; ++to) {
        const Index neighbours = std::abs(from - to) == 1 ? 1 : 0;
        EXPECT_EQ(it.part().chunk_traffic({length, 4}, 1, from, to),
                  (core::Traffic{neighbours * (window - 1) * 2 * columns * Index(sizeof(Real)),
                                 neighbours}));
      }
  }
}

TEST(LeftReach, begins_with_a_block_of_the_whole_sequence) {
  const LeftReach reach{26, 13};
  EXPECT_EQ(reach.begin(0), 0);
  EXPECT_EQ(reach.begin(30), 0);
  EXPECT_EQ(reach.begin(39), 13);
  EXPECT_EQ(reach.begin(51), 13);
  EXPECT_EQ(reach.begin(52), 26);
}

}  // namespace
}  // namespace weft::layers::chunks_contract_test
