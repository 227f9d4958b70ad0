// A GPT trained for some steps from given weights on given tokens: every loss, every gradient norm
// and every final weight.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "layers/attention/registry.h"
#include "layers/model/language_model.h"
#include "optim/adam.h"
#include "optim/take_step.h"
#include "tests/golden/case.h"
#include "tests/layers/given_fields.h"

namespace weft::golden {
namespace {

using autograd::ParameterArena;
using core::Tokens;

// nanoGPT's names and ours, whole or as pieces between dots.
constexpr std::pair<std::string_view, std::string_view> names[] = {
    {"transformer.wte.", "tokens."},
    {"transformer.wpe.", "positions."},
    {"transformer.ln_f.", "final_norm."},
    {"transformer.h.", "layers."},
    {".ln_1.", ".attention_norm."},
    {".ln_2.", ".feed_forward_norm."},
    {".attn.c_attn.", ".attention.projection."},
    {".attn.c_proj.", ".attention.output."},
    {".mlp.c_fc.", ".feed_forward.in."},
    {".mlp.c_proj.", ".feed_forward.out."},
};

std::string our_name(std::string name) {
  for (const auto& [theirs, ours] : names)
    if (const auto at = name.find(theirs); at != std::string::npos)
      name.replace(at, theirs.size(), ours);
  return name;
}

layers::LanguageModel make_model(const Case& golden) {
  layers::ModelSettings settings;
  settings.layers = golden.integer("layers");
  settings.width = golden.integer("dim");
  settings.heads = golden.integer("heads");
  settings.positions = layers::PositionKind::learned;
  settings.norm_place = layers::NormPlace::pre;
  settings.tie = true;
  settings.attention = {"dense"};
  settings.precision = golden.precision();
  const Index length = golden.integer("length");
  tests::GivenFields defaults;
  const layers::AttentionPlans plans{
      {"dense", layers::read_attention(defaults, "dense", settings.site(length))}};
  return {settings, plans, golden.integer("vocab"), length};
}

optim::Adam make_optimizer(const Case& golden, const ParameterArena& arena) {
  return {{.beta1 = golden.number("beta1"),
           .beta2 = golden.number("beta2"),
           .eps = golden.number("eps")},
          optim::AdamDecay::decoupled,
          golden.number("weight_decay"),
          arena};
}

/// Calls body(path in the file, the parameter's values) for each array of a group.
template <class Body>
void for_each_weight(const Case& golden, const std::string& group, ParameterArena& arena,
                     const Body& body) {
  const auto arrays = golden.arrays(group);
  core::require(arrays.size() == arena.slots().size(), group, " holds ", arrays.size(),
                " arrays, the model has ", arena.slots().size());
  for (const std::string& name : arrays) {
    const auto slot = std::ranges::find(arena.slots(), our_name(name), &ParameterArena::Slot::name);
    core::require(slot != arena.slots().end(), "the model has no ", our_name(name), " for ", name);
    const std::string path = group + '/' + name;
    core::require(golden.shape(path) == slot->shape, path, " is ", golden.shape(path),
                  ", the model's is ", slot->shape);
    body(path, arena.value(*slot));
  }
}

/// Step `step` of tokens [steps, B, T + 1], without the first or without the last of each row.
Tokens batch(const Case& golden, Index step, Index skip) {
  const core::Shape shape = golden.shape("tokens");
  const Index B = shape[1], T = shape[2] - 1;
  const auto all = golden.integers("tokens");
  std::vector<core::Token> ids;
  for (Index b = 0; b < B; ++b) {
    const auto row = all.begin() + (step * B + b) * (T + 1) + skip;
    ids.insert(ids.end(), row, row + T);
  }
  return {{B, T}, std::move(ids)};
}

/// In float the keys' part of a packed bias is left out: its true gradient is 0, and Adam turns
/// what rounding leaves of it into steps.
void compare_final(Case& golden, const std::string& path, std::span<const Real> actual) {
  const std::vector<double> expected = golden.numbers(path);
  if (sizeof(Real) == sizeof(double) || !path.ends_with("c_attn.bias"))
    return golden.compare(path, actual, expected);
  const std::span<const double> all(expected);
  const std::size_t third = all.size() / 3;
  golden.compare(path + " of queries", actual.first(third), all.first(third));
  golden.compare(path + " of values", actual.last(third), all.last(third));
}

}  // namespace

void train_gpt(Case& golden) {
  layers::LanguageModel model = make_model(golden);
  autograd::Inventory inventory;
  model.visit(inventory);
  ParameterArena arena(inventory, ParameterArena::Use::training, golden.precision());
  for_each_weight(golden, "init", arena, [&](const std::string& path, std::span<Real> value) {
    std::ranges::copy(golden.numbers(path), value.begin());
  });
  optim::OptimSettings settings;
  settings.lr = golden.number("lr");
  settings.clip = golden.number("clip");
  optim::Adam optimizer = make_optimizer(golden, arena);
  const Index steps = golden.shape("tokens")[0];
  std::vector<Real> losses, norms;
  for (Index step = 0; step < steps; ++step) {
    arena.zero_gradients();
    {
      autograd::Tape tape;
      autograd::Journal journal;
      const autograd::Pass pass(tape, core::Rng(0).fold(std::uint64_t(step)), journal);
      const auto loss = model.loss(pass, {batch(golden, step, 0), batch(golden, step, 1)}, 1);
      losses.push_back(core::scalar(loss.value()));
      tape.sweep(loss);
    }
    const auto report = optim::take_step(optimizer, arena, settings, step, steps);
    norms.push_back(Real(report.gradient_norm));
  }
  golden.compare("losses", losses);
  golden.compare("grad_norms", norms);
  // Adam turns the rounding of small gradients into whole steps.
  if (golden.precision() == core::Precision::bf16) return;
  for_each_weight(golden, "final", arena, [&](const std::string& path, std::span<Real> value) {
    compare_final(golden, path, value);
  });
}

}  // namespace weft::golden
