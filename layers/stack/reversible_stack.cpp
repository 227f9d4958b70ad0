#include "layers/stack/reversible_stack.h"

#include "core/scope.h"

namespace weft::layers {

void TwoStreams::append(std::string name, std::unique_ptr<Branch> branch) {
  branches_.push_back({std::move(name), std::move(branch)});
}

Var TwoStreams::run(const Pass& pass, const Var& first, const Var& second,
                    const Sequences& sequences, StreamOutput output) const {
  std::vector<autograd::Part> parts;
  for (std::size_t i = 0; i < branches_.size(); ++i)
    parts.emplace_back([&named = branches_[i], i, sequences](const Pass& own, const Var& in) {
      const core::Scope scope(named.name);
      return named.branch->forward(own.at(i), in, sequences);
    });
  return autograd::reversible(pass, std::move(parts), first, second, output);
}

TwoStreams::States TwoStreams::begin() const {
  States states;
  for (const Named& own : branches_) states.branches.push_back(own.branch->begin());
  return states;
}

void TwoStreams::step(States& states, Tensor& first, Tensor& second) const {
  Tensor* streams[2] = {&first, &second};
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    const Tensor added =
        branches_[i].branch->step(*states.branches[i], *streams[1 - i % 2], states.position);
    Tensor& to = *streams[i % 2];
    to = autograd::add(Var(to), Var(added)).value();
  }
  ++states.position;
}

Var TwoStreams::penalty(const Pass& pass) const {
  Var total;
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    const MultiHead* attention = branches_[i].branch->attention();
    const Var own = attention ? attention->penalty(pass.at(i)) : Var();
    if (own.value().size() == 0) continue;
    total = total.value().size() == 0 ? own : autograd::add(total, own);
  }
  return total;
}

Cost TwoStreams::cost(const Sequences& sequences) const {
  Cost total;
  for (const Named& own : branches_)
    if (const MultiHead* attention = own.branch->attention()) total += attention->cost(sequences);
  return total;
}

Index TwoStreams::weights() const {
  Index total = 0;
  for (const Named& own : branches_) total += own.branch->weights();
  return total;
}

std::vector<Metric> TwoStreams::metrics() const {
  std::vector<Metric> all;
  for (const Named& own : branches_) {
    const MultiHead* attention = own.branch->attention();
    if (!attention) continue;
    for (Metric& metric : attention->metrics())
      all.push_back({own.name + "." + metric.name, metric.value});
  }
  return all;
}

void TwoStreams::constrain() {
  for (Named& own : branches_)
    if (MultiHead* attention = own.branch->attention()) attention->constrain();
}

void TwoStreams::visit(Inventory& inventory) {
  for (Named& own : branches_) inventory.enter(own.name, *own.branch);
}

}  // namespace weft::layers
