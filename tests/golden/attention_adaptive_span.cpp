#include "autograd/parameter_arena.h"
#include "core/error.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;

/// [B H, T, D] of a case as [B, H, T, D].
core::Shape by_head(const Case& golden, const std::string& name, Index heads) {
  const core::Shape shape = golden.shape(name);
  core::require(shape.rank() == 3 && shape[0] % heads == 0, name, " is ", shape, ", for ", heads,
                " heads");
  return {shape[0] / heads, heads, shape[1], shape[2]};
}

/// key_pe, [1, D, span] from the farthest key to the nearest, and the mechanism's table [span, D]
/// from the nearest on: calls body(place in key_pe, place in the table).
template <class Body>
void for_each_key(Index span, Index width, const Body& body) {
  for (Index d = 0; d < width; ++d)
    for (Index c = 0; c < span; ++c)
      body(std::size_t(d * span + c), std::size_t((span - 1 - c) * width + d));
}

/// The mechanism's two parameters: reach [H], a share of the span, and distance_keys.
class Parameters {
 public:
  explicit Parameters(layers::Attention& attention) {
    autograd::Inventory inventory;
    attention.visit(inventory);
    arena_ = std::make_unique<autograd::ParameterArena>(inventory,
                                                        autograd::ParameterArena::Use::training);
  }

  void fill(const Case& golden, Index span, Index width) {
    std::ranges::copy(golden.numbers("in/z"), values(0).begin());
    const std::vector<double> given = golden.numbers("in/key_pe");
    for_each_key(span, width,
                 [&](std::size_t from, std::size_t to) { values(1)[to] = Real(given[from]); });
  }
  void compare(Case& golden, Index span, Index width) {
    golden.compare("grad/z", gradients(0));
    std::vector<Real> turned(std::size_t(span * width));
    for_each_key(span, width,
                 [&](std::size_t to, std::size_t from) { turned[to] = gradients(1)[from]; });
    golden.compare("grad/key_pe", turned);
  }

 private:
  std::span<Real> values(std::size_t i) { return arena_->value(arena_->slots().at(i)); }
  std::span<Real> gradients(std::size_t i) {
    const auto& segment = arena_->slots().at(i);
    return arena_->gradients().subspan(std::size_t(segment.offset), std::size_t(segment.size));
  }
  std::unique_ptr<autograd::ParameterArena> arena_;
};

}  // namespace

void attention_adaptive_span(Case& golden) {
  const Index heads = golden.shape("in/z").front(), span = golden.shape("in/key_pe").back();
  const core::Shape queries = by_head(golden, "in/q", heads);
  const core::Shape keys = by_head(golden, "in/k", heads);
  const auto attention = make_attention(golden, "adaptive_span", queries, true,
                                        {{"span", span},
                                         {"ramp", golden.integer("ramp")},
                                         {"scale", golden.number("scale")},
                                         {"renorm_eps", golden.number("renorm_eps")},
                                         {"price", 0.0}});
  Parameters parameters(*attention);
  parameters.fill(golden, span, queries[3]);

  autograd::Tape tape;
  autograd::Journal journal;
  layers::AttentionInput input{{}, {}, {queries[0], queries[2], keys[2], true}};
  std::vector<Var> leaves;
  for (const std::string name : {"q", "k", "v"}) {
    leaves.push_back(
        tape.watch(by_token(golden.numbers("in/" + name), by_head(golden, "in/" + name, heads))));
    input.blocks.push_back({leaves.back(), 0});
  }
  const Var out = attention->forward(autograd::Pass(tape, core::Rng(0), journal), input);
  golden.compare("out", by_case(out.value(), queries));
  tape.sweep(out, by_token(golden.numbers("grad_out"), queries));
  golden.compare("grad/q", by_case(tape.gradient(leaves[0]), queries));
  golden.compare("grad/k", by_case(tape.gradient(leaves[1]), keys));
  golden.compare("grad/v", by_case(tape.gradient(leaves[2]), keys));
  parameters.compare(golden, span, queries[3]);
}

}  // namespace weft::golden
