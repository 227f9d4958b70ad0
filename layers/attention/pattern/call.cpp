#include "layers/attention/pattern/call.h"

#include <algorithm>

#include "core/simd/kernels.h"

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

void PatternCall::label(const Var& keys, const Var& bias) {
  terms.keys = keys;
  terms.bias = bias;
  blocks.push_back(blocks[0]);
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

/// Columns of each block.
std::vector<Index> PatternCall::widths() const {
  const Index queries = problem.heads * problem.head_width;
  const Index keys = problem.key_heads() * problem.head_width;
  std::vector<Index> all{queries, keys, keys, queries};
  all.resize(blocks.size());
  return all;
}

/// The problem with sinks, and with the sums of decays, which nobody keeps from forward to
/// backward.
PatternProblem PatternCall::whole_problem() const {
  PatternProblem whole = problem;
  if (sinks.value().size() > 0) whole.sinks = sinks.value().data();
  if (decay.value().size() > 0)
    whole.decay = std::make_shared<const DecaySums>(decay.value(), problem.sequences.batch);
  return whole;
}

/// What the backward sweep reads in addition to the call.
struct PatternCall::Kept {
  Tensor levels, mean, alpha_slope;

  /// The gradient of each head's alpha: sum over rows of dout . d out / d alpha.
  std::vector<double> alpha_gradients(const Tensor& dout, Index heads) const {
    std::vector<double> sums(std::size_t(heads), 0.0);
    const Index rows = dout.shape()[0], width = dout.shape()[1] / heads;
    for (Index r = 0; r < rows; ++r)
      for (Index h = 0; h < heads; ++h) {
        const Index at = (r * heads + h) * width;
        sums[std::size_t(h)] +=
            double(core::simd().dot(dout.data() + at, alpha_slope.data() + at, width));
      }
    return sums;
  }
};

Var PatternCall::attend() const {
  const Sequences& s = problem.sequences;
  const Index columns = problem.heads * problem.head_width;
  const HeadGradients gradients(blocks, widths());
  std::vector<Var> sources = gradients.sources();
  for (const Var& table : tables()) sources.push_back(table);
  if (problem.edge) sources.push_back(reach);
  for (const Var* more : {&sinks, &decay})
    if (more->value().size() > 0) sources.push_back(*more);
  if (problem.learns_alpha) sources.push_back(alpha);
  const bool recorded = std::ranges::any_of(sources, &Var::tape);
  Tensor out({s.batch * s.queries, columns});
  Kept kept{Tensor({s.batch, problem.heads, s.queries}), {}, {}};
  PatternTrace trace{kept.levels.write().data()};
  const bool softmax = problem.entmax.empty();
  if (recorded && !softmax) {
    kept.mean = Tensor(out.shape());
    trace.slope_mean = {kept.mean.write().data(), columns};
  }
  if (recorded && problem.learns_alpha) {
    kept.alpha_slope = Tensor(out.shape());
    trace.alpha_slope = {kept.alpha_slope.write().data(), columns};
  }
  pattern_forward(whole_problem(), heads_of(blocks[0]), heads_of(blocks[1]), heads_of(blocks[2]),
                  {out.write().data(), columns}, trace);
  if (softmax) kept.mean = out;
  return autograd::record("pattern_attention", std::move(out), sources,
                          [call = *this, gradients, kept](Tensor dout) {
                            return call.pull_back(gradients, kept, dout);
                          });
}

autograd::Gradients PatternCall::pull_back(const HeadGradients& gradients, const Kept& kept,
                                           const Tensor& dout) const {
  const Index columns = problem.heads * problem.head_width;
  autograd::Gradients d = gradients.allocate();
  PatternGradients to{gradients.heads(d, 0), gradients.heads(d, 1), gradients.heads(d, 2)};
  if (problem.relative) to.place = gradients.heads(d, 3);
  const auto gradient_of = [&](const Var& source) -> Real* {
    if (source.value().size() == 0) return nullptr;
    d.emplace_back(source.shape());
    return d.back().write().data();
  };
  to.keys = gradient_of(terms.keys);
  to.values = gradient_of(terms.values);
  to.bias = gradient_of(terms.bias);
  if (problem.edge) to.reach = gradient_of(reach);
  to.sinks = gradient_of(sinks);
  to.decay = gradient_of(decay);
  pattern_backward(whole_problem(),
                   {heads_of(blocks[0]),
                    heads_of(blocks[1]),
                    heads_of(blocks[2]),
                    {kept.mean.data(), columns},
                    {dout.data(), columns},
                    kept.levels.data()},
                   to);
  if (problem.learns_alpha)
    d.push_back(normaliser->pull_back(kept.alpha_gradients(dout, problem.heads)));
  return d;
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
