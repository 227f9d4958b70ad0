#include "layers/attention/chosen/block_choice.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {

void attention_moba(Case& golden) {
  const core::Shape shape = golden.shape("in/q");
  const auto attention = make_attention(golden, "moba", shape, true,
                                        {{"block", golden.integer("block")},
                                         {"blocks", golden.integer("blocks")},
                                         {"scale", golden.number("scale")}});
  ReplayHooks hooks;
  hooks.after = [&](const autograd::Pass& pass, autograd::Journal& journal) {
    const auto choice = decided<layers::BlockChoice>(pass, journal, "blocks");
    golden.compare("state/chosen",
                   std::vector<Real>(choice->numbers.begin(), choice->numbers.end()));
  };
  replay_attention(golden, *attention, true, hooks);
  std::vector<layers::HeadBlock> blocks;
  for (const std::string name : {"in/q", "in/k", "in/v"})
    blocks.push_back({autograd::Var(by_token(golden.numbers(name), shape)), 0});
  golden.compare("out", by_case(decode(*attention, blocks, shape), shape));
}

}  // namespace weft::golden
