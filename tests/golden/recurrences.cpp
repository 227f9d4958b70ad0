#include <cmath>

#include "core/error.h"
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/operation.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;
using layers::GateForm;

/// What one number of the rule is called in a case; empty where the op has none.
struct Names {
  std::string decay, write, erase;
  bool unit = false;
};

Names names_of(const std::string& op) {
  if (op == "attention.retention" || op == "attention.gla") return {"decay", "", ""};
  if (op == "attention.ssd") return {"dt", "dt", ""};
  if (op == "attention.delta") return {"", "beta", "beta", true};
  if (op == "attention.gdn2") return {"decay", "write", "erase", true};
  return {"decay", "beta", "beta", true};
}

/// [B, H, T] of a case as [B, H, T, 1].
core::Shape with_columns(const core::Shape& shape) {
  return shape.rank() == 3 ? core::Shape{shape[0], shape[1], shape[2], 1} : shape;
}

GateForm form_of(const Case& golden, const std::string& name) {
  if (name.empty()) return GateForm::none;
  const Index rank = golden.shape("in/" + name).rank();
  return rank == 1 ? GateForm::head : rank == 3 ? GateForm::token : GateForm::column;
}

/// ln(-A) and skip of attention.ssd, [H] each.
struct SsdParameters {
  autograd::Parameter log_rate, skip;
  void visit(autograd::Inventory& inventory) {
    inventory.add("log_rate", log_rate);
    inventory.add("skip", skip);
  }
};

/// One run of a case on a tape.
class RecurrenceReplay {
 public:
  RecurrenceReplay(Case& golden, Index chunk)
      : golden_(golden), names_(names_of(golden.text("op"))) {
    const core::Shape q = golden.shape("in/q"), v = golden.shape("in/v");
    problem_ = {.sequences = layers::Sequences::self(v[0], v[2], true),
                .heads = v[1],
                .key_heads = q[1],
                .width = v[3],
                .scale = Real(golden.number("scale")),
                .decay = form_of(golden, names_.decay),
                .write = form_of(golden, names_.write),
                .erase = form_of(golden, names_.erase),
                .unit = names_.unit,
                .chunk = chunk};
  }

  void run() {
    const bool ssd = golden_.text("op") == "attention.ssd";
    layers::RecurrenceVars vars{{leaf("q"), 0},
                                {leaf("k"), 0},
                                {leaf("v"), 0},
                                gate(names_.decay),
                                gate(names_.write),
                                gate(names_.erase),
                                {}};
    if (golden_.has("in/initial")) vars.initial = watch("initial", golden_.shape("in/initial"));
    SsdParameters parameters{{{problem_.heads}, autograd::Init::zeros()},
                             {{problem_.heads}, autograd::Init::zeros()}};
    autograd::Inventory inventory;
    parameters.visit(inventory);
    autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::training);
    const auto log_rate = arena.slots()[0], skip = arena.slots()[1];
    if (ssd) {
      const auto rates = golden_.numbers("in/A");
      for (std::size_t h = 0; h < rates.size(); ++h)
        arena.value(log_rate)[h] = Real(std::log(-rates[h]));
      std::ranges::copy(golden_.numbers("in/skip"), arena.value(skip).begin());
      vars.decay = layers::scale_heads(vars.write, parameters.log_rate, -1);
    }
    Tensor final;
    Var out = layers::recur(problem_, vars, &final);
    if (ssd) out = layers::add_skipped(out, vars.v, parameters.skip);
    const core::Shape shape = golden_.shape("out");
    golden_.compare("out", by_case(out.value(), shape));
    if (golden_.has("state/final")) golden_.compare("state/final", final.read());
    tape_.sweep(out, by_token(golden_.numbers("grad_out"), shape));
    compare_gradients();
    if (ssd) compare_parameters(arena);
  }

 private:
  Var watch(const std::string& name, const core::Shape& shape) {
    Tensor x(shape);
    std::ranges::copy(golden_.numbers("in/" + name), x.write().begin());
    return leaves_[name] = tape_.watch(x);
  }
  Var leaf(const std::string& name) {
    const auto found = leaves_.find(name);
    if (found != leaves_.end()) return found->second;
    const std::string array = "in/" + name;
    return leaves_[name] =
               tape_.watch(by_token(golden_.numbers(array), with_columns(golden_.shape(array))));
  }
  Var gate(const std::string& name) {
    if (name.empty()) return {};
    const core::Shape shape = golden_.shape("in/" + name);
    return shape.rank() == 1 ? watch(name, shape) : leaf(name);
  }

  void compare_gradients() {
    for (const auto& [name, leaf] : leaves_) {
      const std::string array = "grad/" + name;
      if (!golden_.has(array)) continue;
      const Tensor gradient = tape_.gradient(leaf);
      if (name == "initial")
        golden_.compare(array, gradient.read());
      else
        golden_.compare(array, by_case(gradient, with_columns(golden_.shape(array))));
    }
  }
  /// A = -e^a, so its gradient is that of a divided by A.
  void compare_parameters(autograd::ParameterArena& arena) {
    const auto rates = golden_.numbers("in/A");
    const auto gradients = [&](std::size_t i) {
      return arena.gradients().subspan(std::size_t(arena.slots()[i].offset), rates.size());
    };
    std::vector<Real> of_rates;
    for (std::size_t h = 0; h < rates.size(); ++h)
      of_rates.push_back(gradients(0)[h] / Real(rates[h]));
    golden_.compare("grad/A", of_rates);
    golden_.compare("grad/skip", gradients(1));
  }

  Case& golden_;
  Names names_;
  layers::RecurrenceProblem problem_;
  autograd::Tape tape_;
  std::map<std::string, Var> leaves_;
};

}  // namespace

/// Every op of the one rule, at several chunks.
void recurrences(Case& golden) {
  for (const Index chunk : {64, 16, 5, 1}) RecurrenceReplay(golden, chunk).run();
}

}  // namespace weft::golden
