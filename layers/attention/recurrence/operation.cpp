#include "layers/attention/recurrence/operation.h"

#include "core/error.h"
#include "layers/attention/fittings/shared_heads.h"
#include "layers/attention/recurrence/kernel.h"

namespace weft::layers {
namespace {

ConstGates gates_of(GateForm form, const Var& gate) {
  if (form == GateForm::none) return {};
  return {gate.value().data(), form == GateForm::head ? 0 : gate.shape().back()};
}

RecurrenceInputs inputs_of(const RecurrenceProblem& p, const RecurrenceVars& vars) {
  return {heads_of(vars.q),
          heads_of(vars.k),
          heads_of(vars.v),
          gates_of(p.decay, vars.decay),
          gates_of(p.write, vars.write),
          gates_of(p.erase, vars.erase),
          vars.initial.value().size() > 0 ? vars.initial.value().data() : nullptr};
}

void check_gate(const RecurrenceProblem& p, std::string_view name, GateForm form, const Var& gate) {
  if (form == GateForm::none) return;
  const Index tokens = p.sequences.batch * p.length();
  const core::Shape expected =
      form == GateForm::head
          ? core::Shape{p.heads}
          : core::Shape{tokens, form == GateForm::token ? p.heads : p.heads * p.width};
  core::require(gate.shape() == expected, "recurrence: ", name, " of shape ", gate.shape(),
                ", expected ", expected);
}

void check(const RecurrenceProblem& p, const RecurrenceVars& vars) {
  core::require(p.sequences.causal && p.sequences.queries == p.sequences.keys,
                "recurrence: reads its own past only, so it takes causal sequences and as many "
                "keys as queries");
  core::require(p.heads % p.key_heads == 0, "recurrence: ", p.key_heads,
                " heads of keys cannot serve ", p.heads, " heads evenly");
  check_gate(p, "decay", p.decay, vars.decay);
  check_gate(p, "write", p.write, vars.write);
  check_gate(p, "erase", p.erase, vars.erase);
  const core::Shape states{p.sequences.batch, p.heads, p.width, p.width};
  core::require(vars.initial.value().size() == 0 || vars.initial.shape() == states,
                "recurrence: initial state of shape ", vars.initial.shape(), ", expected ", states);
}

/// The gradient of a gate, or an empty tensor where it has none.
Tensor like(GateForm form, const Var& gate) {
  const bool has = form == GateForm::token || form == GateForm::column;
  return has ? Tensor(gate.shape()) : Tensor();
}

Gates gates_in(Tensor& gradient) {
  if (gradient.size() == 0) return {};
  return {gradient.write().data(), gradient.shape().back()};
}

autograd::Gradients pull_back(const RecurrenceProblem& p, const RecurrenceVars& vars,
                              const HeadGradients& blocks, const Tensor& dout) {
  autograd::Gradients all = blocks.allocate();
  Tensor decay = like(p.decay, vars.decay), write = like(p.write, vars.write);
  Tensor erase = like(p.erase, vars.erase);
  Tensor initial = vars.initial.value().size() > 0 ? Tensor(vars.initial.shape()) : Tensor();
  const bool shared = p.key_heads < p.heads;
  const core::Shape each{dout.shape()[0], p.heads * p.width};
  Tensor q = shared ? Tensor(each) : Tensor(), k = shared ? Tensor(each) : Tensor();
  const RecurrenceGradients to{shared ? Heads{q.write().data(), each[1]} : blocks.heads(all, 0),
                               shared ? Heads{k.write().data(), each[1]} : blocks.heads(all, 1),
                               blocks.heads(all, 2),
                               gates_in(decay),
                               gates_in(write),
                               gates_in(erase),
                               initial.size() > 0 ? initial.write().data() : nullptr};
  recurrence_backward(p, inputs_of(p, vars), {dout.data(), each[1]}, to);
  if (shared) {
    const SharedHeads heads{p.key_heads, p.heads, p.width};
    sum_shared_heads(heads, {q.data(), each[1]}, each[0], blocks.heads(all, 0));
    sum_shared_heads(heads, {k.data(), each[1]}, each[0], blocks.heads(all, 1));
  }
  for (Tensor* gradient : {&decay, &write, &erase, &initial}) all.push_back(std::move(*gradient));
  return all;
}

}  // namespace

/// The gradients are those of recurrence_backward; a decay that is one number for each head gets
/// none.  Saves: what it reads.
Var recur(const RecurrenceProblem& problem, const RecurrenceVars& vars, Tensor* final) {
  check(problem, vars);
  const Index columns = problem.heads * problem.width;
  Tensor out({problem.sequences.batch * problem.length(), columns});
  if (final)
    *final = Tensor({problem.sequences.batch, problem.heads, problem.width, problem.width});
  recurrence_forward(problem, inputs_of(problem, vars), {out.write().data(), columns},
                     final ? final->write().data() : nullptr);
  const Index shared = problem.key_heads * problem.width;
  const HeadGradients blocks({vars.q, vars.k, vars.v}, {shared, shared, columns});
  std::vector<Var> sources = blocks.sources();
  for (const Var* gate : {&vars.decay, &vars.write, &vars.erase, &vars.initial})
    sources.push_back(*gate);
  return autograd::record(
      "recurrence", std::move(out), sources,
      [problem, vars, blocks](Tensor dout) { return pull_back(problem, vars, blocks, dout); });
}

}  // namespace weft::layers
