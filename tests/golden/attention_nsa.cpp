#include "autograd/parameter_arena.h"
#include "core/error.h"
#include "layers/attention/chosen/block_choice.h"
#include "layers/attention/registry.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;

/// The mechanism over a layer's input that holds the gates themselves, three for each head.
struct Nsa {
  explicit Nsa(const Case& golden) {
    tests::Settings settings{{"scale", golden.number("scale")}};
    for (const char* name :
         {"block", "stride", "select_block", "selected", "first", "nearest", "window"})
      settings[name] = golden.integer(name);
    const core::Shape q = golden.shape("in/q");
    tests::GivenFields fields(settings);
    const layers::AttentionSite site{.width = 3 * q[1],
                                     .heads = q[1],
                                     .head_width = q[3],
                                     .length = q[2],
                                     .kv_heads = golden.shape("in/k")[1],
                                     .precision = golden.precision()};
    attention = layers::find_attention("nsa")->configure(fields, site).make(site);
    for (const auto& [key, problem] : fields.problems())
      throw core::Error(core::message_of("setting ", key, ": ", problem));
    autograd::Inventory inventory;
    attention->visit(inventory);
    arena = std::make_unique<autograd::ParameterArena>(inventory,
                                                       autograd::ParameterArena::Use::training);
    for (std::size_t i = 0; i < 3; ++i) {
      std::span<Real> weight = inventory.parameters().at(2 * i).parameter->writable();
      std::ranges::fill(weight, Real(0));
      for (Index h = 0; h < q[1]; ++h) weight[std::size_t(h * 3 * q[1] + 3 * h) + i] = 1;
      std::ranges::fill(inventory.parameters().at(2 * i + 1).parameter->writable(), Real(0));
    }
  }

  std::unique_ptr<layers::Attention> attention;
  std::unique_ptr<autograd::ParameterArena> arena;
};

}  // namespace

void attention_nsa(Case& golden) {
  const Nsa part(golden);
  const core::Shape q = golden.shape("in/q"), k = golden.shape("in/k");
  const core::Shape gates = golden.shape("in/gates");
  autograd::Tape tape;
  autograd::Journal journal;
  const auto watch = [&](const std::string& name, const core::Shape& shape) {
    return tape.watch(by_token(golden.numbers("in/" + name), shape));
  };
  const Var x[] = {watch("q", q), watch("k", k), watch("v", k), watch("gates", gates)};
  const std::vector<layers::HeadBlock> blocks{{x[0], 0}, {x[1], 0}, {x[2], 0}};
  const autograd::Pass pass(tape, core::Rng(0), journal);
  const Var out =
      part.attention->forward(pass, {blocks, x[3], layers::Sequences::self(q[0], q[2], true)});
  golden.compare("out", by_case(out.value(), q));
  golden.compare("out", by_case(decode(*part.attention, blocks, q, x[3].value()), q));
  const auto choice = decided<layers::BlockChoice>(pass, journal, "blocks");
  golden.compare("state/chosen", std::vector<Real>(choice->numbers.begin(), choice->numbers.end()));
  tape.sweep(out, by_token(golden.numbers("grad_out"), q));
  golden.compare("grad/q", by_case(tape.gradient(x[0]), q));
  golden.compare("grad/k", by_case(tape.gradient(x[1]), k));
  golden.compare("grad/v", by_case(tape.gradient(x[2]), k));
  golden.compare("grad/gates", by_case(tape.gradient(x[3]), gates));
}

}  // namespace weft::golden
