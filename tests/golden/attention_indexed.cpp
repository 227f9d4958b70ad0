#include "autograd/ops.h"
#include "layers/attention/chosen/index_loss.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Shape;
using core::Tensor;

/// Arrays of a case as matrices of tokens.
struct IndexedCase {
  explicit IndexedCase(const Case& golden)
      : q(golden.shape("in/q")),
        k(golden.shape("in/k")),
        index_q(golden.shape("in/index_q")),
        sequences(layers::Sequences::self(q[0], q[2], true)) {}

  Index batch() const { return q[0]; }
  Index length() const { return q[2]; }

  Shape q, k, index_q;
  layers::Sequences sequences;
};

/// [B, n, c] as [B n, c]
Tensor flat(const Case& golden, const std::string& name) {
  const Shape shape = golden.shape(name);
  Tensor matrix({shape[0] * shape[1], shape[2]});
  std::ranges::copy(golden.numbers(name), matrix.write().begin());
  return matrix;
}

/// The queries of each head of the index, [B T, d].
std::vector<Var> index_heads(const Case& golden, autograd::Tape& tape) {
  const Shape shape = golden.shape("in/index_q");
  const Var all(by_token(golden.numbers("in/index_q"), shape));
  std::vector<Var> heads;
  for (Index i = 0; i < shape[1]; ++i)
    heads.push_back(tape.watch(autograd::slice(all, i * shape[3], shape[3]).value()));
  return heads;
}

}  // namespace

void attention_indexed(Case& golden) {
  const IndexedCase c(golden);
  autograd::Tape tape, of_index;
  const auto read_in = [&](const std::string& name, const Shape& shape) {
    return by_token(golden.numbers("in/" + name), shape);
  };
  const Var x[] = {tape.watch(read_in("q", c.q)), tape.watch(read_in("k", c.k)),
                   tape.watch(read_in("v", c.k))};
  const layers::IndexRows rows{index_heads(golden, of_index),
                               of_index.watch(flat(golden, "in/index_k")),
                               of_index.watch(flat(golden, "in/index_w"))};
  const layers::TokenIndex index{c.index_q[1], c.index_q[3], Real(golden.number("index_scale"))};
  const Index selected = golden.integer("selected");
  layers::RowChoice choice =
      index.choose(rows, c.batch(), selected, [](Index, Index t) { return t + 1; });
  std::vector<Real> chosen;
  for (Index t = 0; t < c.batch() * c.length(); ++t)
    for (Index i = 0; i < selected; ++i) {
      const auto own = choice.of(t / c.length(), t % c.length());
      chosen.push_back(i < Index(own.size()) ? Real(own[std::size_t(i)]) : -1);
    }
  golden.compare("state/chosen", chosen);
  const layers::GatheredProblem problem{.sequences = c.sequences,
                                        .heads = c.q[1],
                                        .key_heads = c.k[1],
                                        .head_width = c.q[3],
                                        .scale = Real(golden.number("scale")),
                                        .read =
                                            [&](Index b, Index t, std::vector<std::int32_t>& to) {
                                              const auto own = choice.of(b, t);
                                              to.insert(to.end(), own.begin(), own.end());
                                            },
                                        .most = choice.most};
  const layers::Gathered read =
      layers::gathered_attention(problem, {{x[0], 0}, {x[1], 0}, {x[2], 0}});
  golden.compare("out", by_case(read.out.value(), c.q));
  const layers::IndexLoss loss{
      index, problem, {x[0], 0}, {x[1], 0}, read.log_sums, 1, c.batch() * c.length()};
  const Var divergence = loss.of(rows);
  golden.compare("state/index_loss", divergence.value().read());
  of_index.sweep(divergence);
  std::vector<Var> of_heads;
  for (const Var& head : rows.q) of_heads.push_back(Var(of_index.gradient(head)));
  golden.compare("state/index_loss_grad_q", by_case(autograd::concat(of_heads).value(), c.index_q));
  golden.compare("state/index_loss_grad_k", of_index.gradient(rows.k).read());
  golden.compare("state/index_loss_grad_w", of_index.gradient(rows.w).read());
  tape.sweep(read.out, by_token(golden.numbers("grad_out"), c.q));
  golden.compare("grad/q", by_case(tape.gradient(x[0]), c.q));
  golden.compare("grad/k", by_case(tape.gradient(x[1]), c.k));
  golden.compare("grad/v", by_case(tape.gradient(x[2]), c.k));
}

}  // namespace weft::golden
