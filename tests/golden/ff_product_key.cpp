#include <cmath>

#include "core/error.h"
#include "layers/parts/memory/memory_feed_forward.h"
#include "tests/golden/golden_parameters.h"
#include "tests/golden/padded_rows.h"

namespace weft::golden {
namespace {

/// The running moments of the queries, [2, n]; null where there are none.
autograd::State* running_of(layers::MemoryFeedForward& part) {
  autograd::Inventory inventory;
  part.visit(inventory);
  for (const auto& [name, state] : inventory.states())
    if (name == "norm.running") return state;
  return nullptr;
}

void fill_running(const Case& golden, autograd::State& running) {
  const auto mean = golden.numbers("in/running_mean"), variance = golden.numbers("in/running_var");
  std::ranges::copy(mean, running.writable().begin());
  std::ranges::copy(variance, running.writable().begin() + std::ptrdiff_t(mean.size()));
}

void compare_running(Case& golden, const autograd::State& running) {
  const std::size_t n = running.value().read().size() / 2;
  golden.compare("state/running_mean", running.value().read().first(n));
  golden.compare("state/running_var", running.value().read().subspan(n));
}

/// The slots that the pass decided for real rows, with -1 for padding between them.
void compare_slots(Case& golden, const autograd::Pass& pass) {
  const auto found = pass.decide("slots", [] { return layers::Slots(); });
  const auto real = golden.integers("in/real");
  const std::size_t each = golden.numbers("state/slots").size() / real.size();
  std::vector<Real> all;
  for (std::size_t r = 0, next = 0; r < real.size(); ++r)
    for (std::size_t i = 0; i < each; ++i)
      all.push_back(real[r] ? Real(found->at(next++)) : Real(-1));
  golden.compare("state/slots", all);
}

layers::MemorySettings::QueryNorm norm_named(const std::string& name) {
  using QueryNorm = layers::MemorySettings::QueryNorm;
  core::require(name == "layer" || name == "batch" || name == "none", "ff.product_key: norm ",
                name);
  return name == "layer" ? QueryNorm::layer : name == "batch" ? QueryNorm::batch : QueryNorm::none;
}

}  // namespace

void ff_product_key(Case& golden) {
  const core::Shape keys = golden.shape("in/keys");
  const std::string norm = golden.text("norm");
  const bool training = norm != "batch" || golden.flag("training");
  core::require(norm == "none" || std::abs(golden.number("norm_eps") - 1e-5) < 1e-12,
                "ff.product_key is repeated with norm_eps 1e-5 only");
  core::require(norm != "batch" || std::abs(golden.number("momentum") - 0.1) < 1e-12,
                "ff.product_key is repeated with momentum 0.1 only");
  layers::MemoryFeedForward part(golden.shape("in/x").back(),
                                 {.keys = keys[2],
                                  .heads = keys[0],
                                  .top = golden.integer("top_k"),
                                  .query = 2 * keys[3],
                                  .norm = norm_named(norm)},
                                 layers::Init::zeros());
  GoldenParameters parameters(golden, part,
                              {{"query.weight", {"Wq", {1, 0}}},
                               {"query.bias", "bq"},
                               {"norm.weight", "gain"},
                               {"norm.bias", "shift"},
                               {"keys", "keys"},
                               {"values", "values"}});
  autograd::State* running = running_of(part);
  if (running) fill_running(golden, *running);
  core::Tensor x(golden.shape("in/x")), upstream(golden.shape("out"));
  std::ranges::copy(golden.numbers("in/x"), x.write().begin());
  std::ranges::copy(golden.numbers("grad_out"), upstream.write().begin());
  autograd::Tape tape;
  autograd::Journal journal;
  autograd::Pass pass(tape, core::Rng(0), journal);
  if (!training) pass = autograd::Pass(core::Rng(0));
  const autograd::Var in = tape.watch(x);
  const autograd::Var out = part.forward(pass, in, single_rows(golden));
  golden.compare("out", out.value().read());
  if (training) compare_slots(golden, pass);
  tape.sweep(out, upstream);
  golden.compare("grad/x", tape.gradient(in).read());
  parameters.compare_gradients(golden);
  journal.commit();
  if (running && training) compare_running(golden, *running);
}

}  // namespace weft::golden
