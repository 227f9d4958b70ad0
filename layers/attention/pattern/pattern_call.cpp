#include "layers/attention/pattern/pattern_call.h"

#include <algorithm>

namespace weft::layers {

void PatternCall::place(const Pass& pass, const RelativePositions& relative, Index farthest) {
  const Sequences& s = problem.sequences;
  const Index past = std::max<Index>(0, s.queries - 1 + problem.shift());
  const HeadBlock q = blocks[0];
  terms =
      relative.terms(pass, std::min(past, farthest), s.causal ? 0 : std::max<Index>(0, s.keys - 1));
  blocks[0] = relative.content(pass, q);
  blocks.push_back(relative.place(pass, q));
  problem.relative = std::make_shared<const RelativeTerms>(
      relative_terms(terms, heads_of(blocks[3]), problem.heads, problem.head_width));
}

/// The tables that take part, in the order keys, values, bias.
std::vector<Var> PatternCall::tables() const {
  std::vector<Var> present;
  for (const Var* table : {&terms.keys, &terms.values, &terms.bias})
    if (table->value().size() > 0) present.push_back(*table);
  return present;
}

Var PatternCall::attend() const {
  const Sequences& s = problem.sequences;
  const Index columns = problem.heads * problem.head_width;
  Tensor out({s.batch * s.queries, columns});
  Tensor log_sums({s.batch, problem.heads, s.queries});
  pattern_forward(problem, heads_of(blocks[0]), heads_of(blocks[1]), heads_of(blocks[2]),
                  {out.write().data(), columns}, log_sums.write().data());
  const HeadGradients gradients(blocks, columns);
  std::vector<Var> sources = gradients.sources();
  for (const Var& table : tables()) sources.push_back(table);
  if (problem.edge) sources.push_back(reach);
  const Tensor kept = out;
  return autograd::record(
      "pattern_attention", std::move(out), sources,
      [call = *this, gradients, kept, log_sums, columns](Tensor dout) {
        autograd::Gradients d = gradients.allocate();
        PatternGradients to{gradients.heads(d, 0), gradients.heads(d, 1), gradients.heads(d, 2)};
        if (call.problem.relative) to.place = gradients.heads(d, 3);
        const auto table_gradient = [&](const Var& table) -> Real* {
          if (table.value().size() == 0) return nullptr;
          d.emplace_back(table.shape());
          return d.back().write().data();
        };
        to.keys = table_gradient(call.terms.keys);
        to.values = table_gradient(call.terms.values);
        to.bias = table_gradient(call.terms.bias);
        if (call.problem.edge) to.reach = table_gradient(call.reach);
        pattern_backward(call.problem,
                         {heads_of(call.blocks[0]),
                          heads_of(call.blocks[1]),
                          heads_of(call.blocks[2]),
                          {kept.data(), columns},
                          {dout.data(), columns},
                          log_sums.data()},
                         to);
        return d;
      });
}

Cost pattern_cost(const PatternProblem& problem, const RelativePositions* relative,
                  Index farthest) {
  if (!relative) return pattern_cost(problem);
  PatternCall call{problem, {}, {}, {}};
  call.blocks.assign(3, {Var(Tensor({1, problem.heads * problem.head_width})), 0});
  call.place(Pass(), *relative, farthest);
  return pattern_cost(call.problem);
}

}  // namespace weft::layers
