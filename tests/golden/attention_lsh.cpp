#include "core/error.h"
#include "layers/attention/clusters/angular_hash.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {
namespace {

/// The case's own directions, [rounds, D, buckets / 2], in the order in which weft draws them.
std::vector<std::uint16_t> hash_case(const Case& golden) {
  const core::Shape shape = golden.shape("in/rotations"), tokens = golden.shape("in/qk");
  const Index rounds = shape[0], width = shape[1], half = shape[2];
  const layers::AngularHash hash{
      .head_width = width, .rounds = rounds, .first = 2 * half, .second = 0};
  const std::vector<double> given = golden.numbers("in/rotations"), qk = golden.numbers("in/qk");
  core::Tensor directions({1, width, rounds * half}), x({tokens.size()});
  for (Index r = 0; r < rounds; ++r)
    for (Index d = 0; d < width; ++d)
      for (Index c = 0; c < half; ++c)
        directions.write()[std::size_t((d * rounds + r) * half + c)] =
            Real(given[std::size_t((r * width + d) * half + c)]);
  std::ranges::copy(qk, x.write().begin());
  return layers::hash_tokens(hash, directions, {x.data(), width}, tokens[0], 1, tokens[1]);
}

}  // namespace

void attention_lsh(Case& golden) {
  const core::Shape rotations = golden.shape("in/rotations");
  const bool causal = golden.flag("causal"), paper = golden.text("mode") == "paper";
  core::require(rotations.rank() == 3, "in/rotations is ", rotations,
                ", expected [rounds, D, buckets / 2]");
  const double self = golden.number("self_score");
  core::require(self == 0 || self <= -1e4, "a self score of ", self,
                " is neither 0 nor a fallback");
  tests::Settings settings{{"mode", golden.text("mode")},
                           {"rounds", rotations[0]},
                           {"buckets", 2 * rotations[2]},
                           {"chunk", golden.integer("chunk")},
                           {"scale", golden.number("scale")},
                           {"dedup", golden.flag("dedup")},
                           {"self", std::string(self == 0 ? "scored" : "fallback")}};
  if (paper) {
    settings["same_bucket"] = golden.flag("same_bucket");
    settings["wrap"] = golden.flag("wrap");
  }
  const auto attention = make_attention(golden, "lsh", golden.shape("in/qk"), causal, settings);
  // Buckets above 128 would be factorised; the case's are not.
  ReplayHooks hooks;
  hooks.before = [&](const autograd::Pass& pass, autograd::Journal& journal) {
    const auto buckets = std::make_shared<const std::vector<std::uint16_t>>(hash_case(golden));
    journal.store(pass.stream().fold("buckets").key(), buckets);
  };
  replay_attention(golden, *attention, causal, hooks);
}

}  // namespace weft::golden
