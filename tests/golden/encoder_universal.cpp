#include "core/error.h"
#include "layers/settings/default_plans.h"
#include "layers/universal/universal_stack.h"
#include "tests/golden/golden_parameters.h"
#include "tests/golden/padded_rows.h"

namespace weft::golden {
namespace {

using layers::Init;

layers::UniversalSettings universal_settings(const Case& golden) {
  layers::UniversalSettings settings;
  settings.steps = golden.integer("steps");
  if (golden.text("halting") == "none") return settings;
  settings.halting = layers::Halting::act;
  settings.epsilon = golden.number("epsilon");
  settings.price = golden.number("ponder");
  settings.freeze = golden.flag("freeze");
  if (golden.text("combine") == "mix") settings.combine = layers::HaltCombine::mix;
  return settings;
}

layers::Block block_of(const Case& golden, bool causal) {
  const Index width = golden.shape("in/x")[2];
  layers::ModelSettings model;
  model.width = width;
  model.heads = golden.integer("heads");
  model.causal = causal;
  const layers::AttentionPlans plans = layers::default_plans(model, golden.shape("in/x")[1]);
  const layers::AttentionSite site = model.site(golden.shape("in/x")[1]);
  const bool post = golden.text("norm_place") == "post";
  return {layers::MultiHead(plans.at("dense"), site, Init::zeros(), Init::zeros(), nullptr),
          std::make_unique<layers::DenseFeedForward>(width, golden.shape("in/W1")[1], Init::zeros(),
                                                     Init::zeros()),
          {.width = width,
           .place = post ? layers::NormPlace::post : layers::NormPlace::pre,
           .norm_eps = golden.number("norm_eps")}};
}

/// A block and the steps over it.
struct Universal {
  std::vector<layers::Block> blocks;
  layers::UniversalStack stack;

  void visit(autograd::Inventory& inventory) {
    inventory.enter("block", blocks[0]);
    inventory.enter("stack", stack);
  }
};

const GoldenParameters::Placings step_placings = {
    {"block.attention.projection.weight", {"Wqkv", {1, 0}}},
    {"block.attention.projection.bias", "bqkv"},
    {"block.attention.output.weight", {"Wo", {1, 0}}},
    {"block.attention.output.bias", "bo"},
    {"block.attention_norm.weight", "gain1"},
    {"block.attention_norm.bias", "shift1"},
    {"block.feed_forward.in.weight", {"W1", {1, 0}}},
    {"block.feed_forward.in.bias", "b1"},
    {"block.feed_forward.out.weight", {"W2", {1, 0}}},
    {"block.feed_forward.out.bias", "b2"},
    {"block.feed_forward_norm.weight", "gain2"},
    {"block.feed_forward_norm.bias", "shift2"},
    {"stack.halting.weight", "halt_w"},
    {"stack.halting.bias", "halt_b"}};

/// At which step each position halted, 0 in padding, by the decisions of the pass.
std::vector<Real> steps_of(const autograd::Pass& pass, const layers::Sequences& sequences,
                           Index limit) {
  std::vector<Real> steps(std::size_t(sequences.batch * sequences.queries), 0);
  std::vector<std::size_t> running;
  for (Index b = 0; b < sequences.batch; ++b)
    for (Index t = 0; t < sequences.real_keys(b); ++t)
      running.push_back(std::size_t(b * sequences.queries + t));
  for (Index t = 1; t <= limit && !running.empty(); ++t) {
    const auto halts =
        pass.at(std::uint64_t(t)).decide("halts", [] { return std::vector<char>(); });
    core::require(halts->size() == running.size(), "encoder.universal: no decision at step ", t);
    std::vector<std::size_t> still;
    for (std::size_t i = 0; i < running.size(); ++i)
      if ((*halts)[i])
        steps[running[i]] = Real(t);
      else
        still.push_back(running[i]);
    running = std::move(still);
  }
  return steps;
}

double mean_of(const std::vector<double>& numbers, double count) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / count;
}

/// Who halted when, and the mean remainder.
void compare_halting(Case& golden, Universal& part, autograd::Journal& journal,
                     const autograd::Pass& pass, const layers::Sequences& sequences) {
  golden.compare("state/steps", steps_of(pass, sequences, part.stack.steps()));
  journal.commit();
  autograd::Inventory inventory;
  part.visit(inventory);
  double count = 0;
  for (const Index real : sequences.all_real_keys()) count += double(real);
  for (const autograd::Metric& metric : inventory.metrics()) {
    if (!metric.name.ends_with("remainder")) continue;
    const double expected = mean_of(golden.numbers("state/remainder"), count);
    golden.compare("mean of state/remainder", std::vector{Real(metric.value)},
                   std::vector{expected});
  }
}

}  // namespace

void encoder_universal(Case& golden) {
  const bool causal = golden.flag("causal");
  const Index width = golden.shape("in/x")[2];
  const layers::UniversalSettings settings = universal_settings(golden);
  Universal part{{}, layers::UniversalStack(settings, width, layers::PositionKind::sinusoidal)};
  part.blocks.push_back(block_of(golden, causal));
  const GoldenParameters parameters(golden, part, step_placings);
  const layers::Positions positions(layers::PositionKind::sinusoidal, width, width,
                                    golden.shape("in/x")[1]);
  const layers::Sequences sequences = padded_sequences(golden, causal);
  autograd::Tape tape;
  autograd::Journal journal;
  const autograd::Pass pass(tape, core::Rng(0), journal);
  const autograd::Var in = tape.watch(rows_of(golden, "in/x"));
  const autograd::Var out = without_padding(
      part.stack.run(pass, part.blocks, positions, in, sequences, false), sequences);
  golden.compare("out", out.value().read());
  const autograd::Var charged = autograd::penalties(pass);
  if (charged.value().size() > 0) golden.compare("state/loss", charged.value().read());
  journal.penalty_gradient = 1;
  tape.sweep(out, rows_of(golden, "grad_out"));
  golden.compare("grad/x", tape.gradient(in).read());
  parameters.compare_gradients(golden);
  if (settings.halts()) compare_halting(golden, part, journal, pass, sequences);
}

}  // namespace weft::golden
