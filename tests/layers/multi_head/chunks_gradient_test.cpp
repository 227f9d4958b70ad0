// The gradients of layers over chunks of sequences, those that go from chunk to chunk among them.
#include "tests/gradient_check.h"
#include "tests/layers/multi_head/chunked_layer.h"

namespace weft::layers::chunks_gradient_test {
namespace {

TEST(ChunksGradient, agree_with_differences) {
  constexpr Index chunks = 3, length = 21;
  for (const ChunkedCase& own : chunked_cases()) {
    if (!own.smooth) continue;
    SCOPED_TRACE(own.name);
    ChunkedLayer it(own.kind, own.settings, own.rotary, 2, length);
    DrawnWeights drawn(it.part());
    // All chunks on one tape: its sweep ends them from right to left, as training does. What goes
    // from chunk to chunk is no decision here, as it moves with the inputs.
    core::ChunkLink link(core::one_rank(), {1, chunks});
    tests::check_gradient(
        "left_keys",
        [&](const Pass& pass, const std::vector<Var>& in) {
          link.enter(0);
          std::vector<Var> all;
          for (Index c = 0; c < chunks; ++c) {
            autograd::Journal journal;
            const Pass one =
                pass.tape() ? Pass(*pass.tape(), pass.stream(), journal) : Pass(pass.stream());
            all.push_back(it.forward(one, in[std::size_t(c)], c, chunks, link));
          }
          return autograd::concat(all);
        },
        it.cut(tests::random_tensor({2 * length, it.width}, 1), chunks), drawn.arena());
  }
}

}  // namespace
}  // namespace weft::layers::chunks_gradient_test
