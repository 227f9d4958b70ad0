#include "tests/golden/attention_replay.h"

namespace weft::golden {

void attention_dense(Case& golden) {
  const bool causal = golden.flag("causal");
  const auto attention = make_attention(golden, "dense", golden.shape("in/q"), causal);
  replay_attention(golden, *attention, causal);
}

}  // namespace weft::golden
