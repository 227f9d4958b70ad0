#include "layers/universal/universal_stack.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/scope.h"

namespace weft::layers {
namespace {

using autograd::RowNumbers;

RowNumbers numbers(std::vector<Index> rows) {
  return std::make_shared<const std::vector<Index>>(std::move(rows));
}

/// Rows that are not padding.
RowNumbers real_rows(const Sequences& s) {
  std::vector<Index> rows;
  for (Index b = 0; b < s.batch; ++b)
    for (Index t = 0; t < s.real_keys(b); ++t) rows.push_back(b * s.queries + t);
  return numbers(std::move(rows));
}

RowNumbers first_rows(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index(0));
  return numbers(std::move(rows));
}

/// Those of the running rows that do not halt.
RowNumbers still_running(const RowNumbers& running, const std::vector<char>& halts) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < running->size(); ++i)
    if (!halts[i]) rows.push_back((*running)[i]);
  return numbers(std::move(rows));
}

/// Those of [0, all) that are not among `rows`.
RowNumbers others(const RowNumbers& rows, Index all) {
  std::vector<Index> rest;
  auto next = rows->begin();
  for (Index row = 0; row < all; ++row)
    if (next != rows->end() && *next == row)
      ++next;
    else
      rest.push_back(row);
  return numbers(std::move(rest));
}

bool is_all(const RowNumbers& rows, const Var& x) { return Index(rows->size()) == x.shape()[0]; }

Var gathered(const Var& x, const RowNumbers& rows) {
  return is_all(rows, x) ? x : autograd::gather_rows(x, rows);
}

/// `all` with `some` in these rows.
Var replaced(const Var& all, const Var& some, const RowNumbers& rows) {
  if (is_all(rows, all)) return some;
  const Index count = all.shape()[0];
  const RowNumbers rest = others(rows, count);
  return autograd::add(autograd::scatter_rows(some, rows, count),
                       autograd::scatter_rows(autograd::gather_rows(all, rest), rest, count));
}

/// `all` with `some` added in these rows.
Var added(const Var& all, const Var& some, const RowNumbers& rows) {
  return autograd::add(
      all, is_all(rows, all) ? some : autograd::scatter_rows(some, rows, all.shape()[0]));
}

Tensor zeros(Index rows, Index columns) { return Tensor({rows, columns}, 0); }

/// Puts `some` in these rows of `all`.
void put_rows(Tensor& all, const Tensor& some, const std::vector<Index>& rows) {
  const Index columns = all.shape()[1];
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(some.data() + Index(i) * columns, columns, all.write().data() + rows[i] * columns);
}

}  // namespace

struct UniversalStack::Where {
  Index number = 1;    ///< of the step
  RowNumbers running;  ///< before it
  Index real = 0;      ///< positions that are not padding
  RowNumbers after;    ///< those that run on; the step leaves them here
};

UniversalStack::UniversalStack(const UniversalSettings& settings, Index width,
                               PositionKind positions)
    : settings_(settings),
      learned_(positions == PositionKind::learned || positions == PositionKind::axial),
      steps_(learned_ ? PositionKind::learned : PositionKind::sinusoidal, width, width,
             learned_ ? settings.steps : settings.steps + 1) {
  if (settings.halts()) halting_.emplace(settings, width);
}

Var UniversalStack::coordinates(const Positions& positions, const Var& x, Index length, Index first,
                                Index step) const {
  return steps_.add(positions.add(x, length, first), 1, learned_ ? step - 1 : step);
}

Var UniversalStack::run(const Pass& pass, const std::vector<Block>& blocks,
                        const Positions& positions, const Var& x, const Sequences& sequences,
                        bool recompute, std::vector<float>* taken) const {
  if (halting_) return halting_run(pass, blocks, positions, x, sequences, recompute, taken);
  Var h = x;
  for (Index t = 1; t <= settings_.steps; ++t) {
    const core::Scope scope("steps", t);
    const auto step = [this, &blocks, &positions, sequences, t](const Pass& own, const Var& in) {
      Var y = coordinates(positions, in, sequences.queries, 0, t);
      for (std::size_t i = 0; i < blocks.size(); ++i)
        y = blocks[i].forward(own.at(i), y, sequences);
      return y;
    };
    const Pass own = pass.at(std::uint64_t(t));
    h = recompute ? autograd::recompute(own, step, h) : step(own, h);
  }
  return h;
}

Var UniversalStack::run(const Pass& pass, const ReversibleStack& stack, const Positions& positions,
                        const Var& x, const Sequences& sequences, StreamOutput output) const {
  const Index width = x.shape().back();
  const std::vector<Sequences> of_branches(stack.size(), sequences);
  Var first = x, second = x, both;
  for (Index t = 1; t <= settings_.steps; ++t) {
    const core::Scope scope("steps", t);
    first = coordinates(positions, first, sequences.queries, 0, t);
    second = coordinates(positions, second, sequences.queries, 0, t);
    const bool last = t == settings_.steps;
    both = stack.run(pass.at(std::uint64_t(t)), first, second, of_branches,
                     last ? output : StreamOutput::concat);
    if (last) break;
    first = autograd::slice(both, 0, width);
    second = autograd::slice(both, width, width);
  }
  return both;
}

std::pair<Var, Var> UniversalStack::layers_of_step(const Pass& pass,
                                                   const std::vector<Block>& blocks,
                                                   const Carry& before, Var x,
                                                   const Sequences& sequences,
                                                   const Where& where) const {
  const std::size_t last = blocks.size() - 1;
  for (std::size_t i = 0; i < last; ++i) x = blocks[i].forward(pass.at(i), x, sequences);
  if (!settings_.freeze) {
    const Var y = blocks[last].forward(pass.at(last), x, sequences);
    return {gathered(y, where.running), y};
  }
  // Others read keys and values of halted positions, but nobody their result.
  const auto& [attention, feed_forward] = blocks[last].branches();
  const Pass own = pass.at(last);
  const Var a = gathered(attention->onto(own.at(Block::names[0]), x, sequences), where.running);
  const Sequences running = Sequences::self(1, a.shape()[0], sequences.causal);
  const Var y = feed_forward->onto(own.at(Block::names[1]), a, running);
  return {y, replaced(before.h, y, where.running)};
}

UniversalStack::Carry UniversalStack::halting_step(const Pass& pass,
                                                   const std::vector<Block>& blocks,
                                                   const Positions& positions, const Carry& before,
                                                   const Sequences& sequences,
                                                   const std::shared_ptr<Where>& where) const {
  const RowNumbers& rows = where->running;
  const Var x = coordinates(positions, before.h, sequences.queries, 0, where->number);
  const auto decision =
      halting_->decide(pass, gathered(x, rows), gathered(before.spent, rows), where->number);
  const auto [y, h] = layers_of_step(pass, blocks, before, x, sequences, *where);
  Var result = y;
  if (settings_.combine == HaltCombine::mix)
    result = autograd::add(y, autograd::scale(gathered(before.out, rows), -1));
  Carry after{h, added(before.out, autograd::weigh_rows(result, decision.weights), rows),
              added(before.spent, decision.weights, rows)};
  after.out = halting_->charge(pass, after.out, decision, where->number, where->real);
  where->after = still_running(rows, *decision.halts);
  return after;
}

Var UniversalStack::halting_run(const Pass& pass, const std::vector<Block>& blocks,
                                const Positions& positions, const Var& x,
                                const Sequences& sequences, bool recompute,
                                std::vector<float>* taken) const {
  const Index rows = x.shape()[0], width = x.shape()[1];
  Carry carry{x, Var(zeros(rows, width)), Var(zeros(rows, 1))};
  RowNumbers running = real_rows(sequences);
  const auto real = Index(running->size());
  if (taken) taken->assign(std::size_t(rows), 0);
  for (Index t = 1; t <= settings_.steps && !running->empty(); ++t) {
    const core::Scope scope("steps", t);
    const auto where = std::make_shared<Where>(Where{t, running, real, {}});
    if (taken)
      for (const Index row : *running) ++(*taken)[std::size_t(row)];
    const Pass own = pass.at(std::uint64_t(t));
    if (recompute) {
      const auto step = [this, &blocks, &positions, sequences, where, width](const Pass& inner,
                                                                             const Var& all) {
        const Carry entering{autograd::slice(all, 0, width), autograd::slice(all, width, width),
                             autograd::slice(all, 2 * width, 1)};
        const Carry left = halting_step(inner, blocks, positions, entering, sequences, where);
        return autograd::concat({left.h, left.out, left.spent});
      };
      const Var all =
          autograd::recompute(own, step, autograd::concat({carry.h, carry.out, carry.spent}));
      carry = {autograd::slice(all, 0, width), autograd::slice(all, width, width),
               autograd::slice(all, 2 * width, 1)};
    } else {
      carry = halting_step(own, blocks, positions, carry, sequences, where);
    }
    running = where->after;
  }
  return carry.out;
}

Tensor UniversalStack::coordinates(const Positions& positions, const Tensor& x,
                                   const StackRows& rows, Index step) const {
  return stacked_rows(x.shape()[0], x.shape()[1], [&](Index r) {
    return coordinates(positions, Var(x.rows(r, 1)), 1, rows[std::size_t(r)].position, step)
        .value();
  });
}

Tensor UniversalStack::step(const StackRows& rows, const std::vector<Block>& blocks,
                            const Positions& positions, const Tensor& tokens) const {
  constexpr std::size_t of_block = Block::names.size();
  const RowNumbers all = first_rows(tokens.shape()[0]);
  RowNumbers running = all;
  Tensor h = tokens, out = zeros(h.shape()[0], h.shape()[1]), spent = zeros(h.shape()[0], 1);
  std::size_t branch = 0;
  for (Index t = 1; t <= settings_.steps; ++t, branch += of_block) {
    const Tensor entering = coordinates(positions, h, rows, t);
    Tensor x = entering;
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i, branch += of_block)
      x = blocks[i].step(rows, branch, x);
    // A frozen position is read at every step, and its last result by nobody.
    const RowNumbers& made = settings_.freeze ? running : all;
    put_rows(h, blocks.back().step_rows(rows, branch, x, made), *made);
    if (!halting_ || running->empty()) continue;
    const Var own_out = gathered(Var(out), running), own_spent = gathered(Var(spent), running);
    const auto decision = halting_->decide(Pass(), gathered(Var(entering), running), own_spent, t);
    Var result = gathered(Var(h), running);
    if (settings_.combine == HaltCombine::mix)
      result = autograd::add(result, autograd::scale(own_out, -1));
    const Var weighed = autograd::weigh_rows(result, decision.weights);
    put_rows(out, autograd::add(own_out, weighed).value(), *running);
    put_rows(spent, autograd::add(own_spent, decision.weights).value(), *running);
    running = still_running(running, *decision.halts);
  }
  return halting_ ? out : h;
}

Tensor UniversalStack::step(const StackRows& rows, const ReversibleStack& stack,
                            const Positions& positions, const Tensor& tokens,
                            StreamOutput output) const {
  Tensor first = tokens, second = tokens;
  for (Index t = 1; t <= settings_.steps; ++t) {
    first = coordinates(positions, first, rows, t);
    second = coordinates(positions, second, rows, t);
    stack.step(rows, std::size_t(t - 1) * stack.size(), first, second);
  }
  return ReversibleStack::join(first, second, output);
}

void UniversalStack::visit(Inventory& inventory) {
  inventory.enter("steps", steps_);
  if (halting_) inventory.enter("halting", *halting_);
}

}  // namespace weft::layers
