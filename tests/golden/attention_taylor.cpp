#include "tests/golden/attention_replay.h"

namespace weft::golden {

void attention_taylor(Case& golden) {
  const bool causal = golden.flag("causal");
  const auto attention = make_attention(golden, "taylor", golden.shape("in/q"), causal,
                                        {{"eps", golden.number("eps")}});
  replay_attention(golden, *attention, causal);
}

}  // namespace weft::golden
