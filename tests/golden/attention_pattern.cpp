#include "layers/attention/pattern/attention.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/pattern_atoms.h"

namespace weft::golden {

void attention_pattern(Case& golden) {
  const core::Shape queries = golden.shape("in/q");
  const layers::AttentionSite site{
      .heads = queries[1], .head_width = queries[3], .precision = golden.precision()};
  replay_attention(golden, layers::PatternAttention(site, {pattern_of(golden.text("atoms"))}),
                   golden.flag("causal"));
}

}  // namespace weft::golden
