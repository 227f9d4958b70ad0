#include "core/error.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {

void attention_linformer(Case& golden) {
  core::require(!golden.flag("causal"), "attention.linformer has no causal form");
  const Index slots = golden.shape("in/E").front();
  const auto attention = make_attention(golden, "linformer", golden.shape("in/q"), false,
                                        {{"slots", slots}, {"sharing", std::string("headwise")}});
  GoldenParameters parameters(golden, *attention,
                              {{"key_projection", "E"}, {"value_projection", "F"}});
  replay_attention(
      golden, *attention, false,
      {.before = [&](const autograd::Pass&, autograd::Journal&) { parameters.zero_gradients(); },
       .after = [&](const autograd::Pass&,
                    autograd::Journal&) { parameters.compare_gradients(golden); }});
}

}  // namespace weft::golden
