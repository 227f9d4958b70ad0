#include "layers/stack/reversible_stack.h"

#include "core/error.h"
#include "core/scope.h"

namespace weft::layers {

Pass ReversibleStack::Place::of(const Pass& pass) const {
  return part.empty() ? pass.at(number) : pass.at(number).at(part);
}

void ReversibleStack::append(std::string name, Place place, std::shared_ptr<Branch> branch) {
  entries_.push_back({std::move(name), std::move(place), std::move(branch)});
}

Var ReversibleStack::run(const Pass& pass, const Var& first, const Var& second,
                         const std::vector<Sequences>& sequences, StreamOutput output) const {
  core::require(sequences.size() == entries_.size(), "reversible stack: sequences for ",
                sequences.size(), " of ", entries_.size(), " branches");
  std::vector<autograd::Sublayer> branches;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    branches.emplace_back([entry = entries_[i], own = sequences[i]](const Pass& at, const Var& in) {
      const core::Scope scope(entry.name);
      return entry.branch->forward(entry.place.of(at), in, own);
    });
  return autograd::reversible(pass, std::move(branches), first, second, output);
}

BranchStates ReversibleStack::begin() const {
  BranchStates states;
  for (const Entry& entry : entries_) states.branches.push_back(entry.branch->begin());
  return states;
}

void ReversibleStack::step(const StackRows& rows, std::size_t from, Tensor& first,
                           Tensor& second) const {
  Tensor* streams[2] = {&first, &second};
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Tensor added =
        entries_[i].branch->step(rows_of_branch(rows, from + i), *streams[1 - i % 2]);
    Tensor& to = *streams[i % 2];
    to = autograd::add(Var(to), Var(added)).value();
  }
}

Tensor ReversibleStack::join(const Tensor& first, const Tensor& second, StreamOutput output) {
  if (output == StreamOutput::concat) return autograd::concat({Var(first), Var(second)}).value();
  return autograd::scale(autograd::add(Var(first), Var(second)), Real(0.5)).value();
}

Var ReversibleStack::penalty(const Pass& pass) const {
  Var total;
  for (const Entry& entry : entries_) {
    const MultiHead* attention = entry.branch->attention();
    const Var own = attention ? attention->penalty(entry.place.of(pass)) : Var();
    if (own.value().size() == 0) continue;
    total = total.value().size() == 0 ? own : autograd::add(total, own);
  }
  return total;
}

Cost ReversibleStack::cost(const Sequences& sequences) const {
  Cost total;
  for (const Entry& entry : entries_)
    if (const MultiHead* attention = entry.branch->attention()) total += attention->cost(sequences);
  return total;
}

Index ReversibleStack::weights() const {
  Index total = 0;
  for (const Entry& entry : entries_) total += entry.branch->weights();
  return total;
}

void ReversibleStack::visit(Inventory& inventory) {
  for (Entry& entry : entries_) {
    inventory.enter(entry.name + ".norm", entry.branch->norm());
    inventory.enter(entry.name, *entry.branch);
  }
}

}  // namespace weft::layers
