#pragma once

#include <cmath>
#include <vector>

#include "layers/attention/recurrence/operation.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::layers {

/// Drawn inputs of the recurrence: q, k, v, then each gate that the problem has, and the initial
/// state where it is asked for. Decays are `strength` times the square of normal numbers, below 0;
/// gates of writing and erasing lie between 0 and 1.
struct RecurrenceSample {
  explicit RecurrenceSample(const RecurrenceProblem& p, double strength = 0.1, bool initial = false)
      : problem(p) {
    const Index tokens = p.sequences.batch * p.length();
    q = tests::random_tensor({tokens, p.key_heads * p.width}, 1);
    k = tests::random_tensor({tokens, p.key_heads * p.width}, 2);
    v = tests::random_tensor({tokens, p.heads * p.width}, 3);
    decay = gate(p.decay, 4, [&](Real x) { return Real(-strength) * x * x; });
    const auto share = [](Real x) { return 1 / (1 + std::exp(-x)); };
    write = gate(p.write, 5, share);
    erase = gate(p.erase, 6, share);
    if (initial) start = tests::random_tensor({p.sequences.batch, p.heads, p.width, p.width}, 7);
  }

  std::vector<Tensor> inputs() const { return {q, k, v, decay, write, erase, start}; }
  static RecurrenceVars vars(const std::vector<Var>& in) {
    return {{in[0], 0}, {in[1], 0}, {in[2], 0}, in[3], in[4], in[5], in[6]};
  }

  struct Run {
    Tensor out, final;
    std::vector<Tensor> gradients;
  };
  Run run() const {
    autograd::Tape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : inputs()) leaves.push_back(x.size() > 0 ? tape.watch(x) : Var());
    Run result;
    const Var out = recur(problem, vars(leaves), &result.final);
    result.out = out.value();
    tape.sweep(out, tests::random_tensor(out.shape(), 8));
    for (const Var& leaf : leaves)
      result.gradients.push_back(leaf.value().size() > 0 ? tape.gradient(leaf) : Tensor());
    return result;
  }

  /// The rule token by token in double: outputs, then final states.
  std::vector<std::vector<double>> naive() const {
    const RecurrenceProblem& p = problem;
    const Index T = p.length(), D = p.width;
    std::vector<double> out(v.read().size()), last;
    for (Index b = 0; b < p.sequences.batch; ++b)
      for (Index h = 0; h < p.heads; ++h) {
        std::vector<double> S(std::size_t(D * D), 0.0);
        for (Index i = 0; i < D * D && start.size() > 0; ++i)
          S[std::size_t(i)] = start.read()[std::size_t((b * p.heads + h) * D * D + i)];
        for (Index t = 0; t < T; ++t) token(b * T + t, h, S, out);
        last.insert(last.end(), S.begin(), S.end());
      }
    return {out, last};
  }

  RecurrenceProblem problem;
  Tensor q, k, v, decay, write, erase, start;

 private:
  template <class Map>
  Tensor gate(GateForm form, std::uint64_t seed, const Map& map) const {
    if (form == GateForm::none) return {};
    const RecurrenceProblem& p = problem;
    const Index columns = p.heads * (form == GateForm::column ? p.width : 1);
    Tensor x = form == GateForm::head
                   ? tests::random_tensor({p.heads}, seed)
                   : tests::random_tensor({p.sequences.batch * p.length(), columns}, seed);
    for (Real& value : x.write()) value = map(value);
    return x;
  }

  double gate_at(const Tensor& x, GateForm form, Index row, Index h, Index c, double none) const {
    const Index H = problem.heads, D = problem.width;
    if (form == GateForm::none) return none;
    const Index at = form == GateForm::head    ? h
                     : form == GateForm::token ? row * H + h
                                               : (row * H + h) * D + c;
    return x.read()[std::size_t(at)];
  }

  std::vector<double> shared_row(const Tensor& x, Index row, Index h) const {
    const Index D = problem.width, G = problem.key_heads;
    std::vector<double> y;
    double squares = 1e-6;
    for (Index c = 0; c < D; ++c) {
      y.push_back(x.read()[std::size_t((row * G + h * G / problem.heads) * D + c)]);
      squares += y.back() * y.back();
    }
    for (double& value : y) value /= problem.unit ? std::sqrt(squares) : 1;
    return y;
  }

  void token(Index row, Index h, std::vector<double>& S, std::vector<double>& out) const {
    const Index D = problem.width;
    const std::vector<double> qs = shared_row(q, row, h), ks = shared_row(k, row, h);
    for (Index c = 0; c < D; ++c)
      for (Index d = 0; d < D; ++d)
        S[std::size_t(c * D + d)] *= std::exp(gate_at(decay, problem.decay, row, h, c, 0));
    for (Index d = 0; d < D; ++d) {
      const auto at = std::size_t((row * problem.heads + h) * D + d);
      double u = gate_at(write, problem.write, row, h, d, 1) * v.read()[at], sum = 0;
      for (Index c = 0; c < D; ++c)
        u -= S[std::size_t(c * D + d)] * gate_at(erase, problem.erase, row, h, c, 0) *
             ks[std::size_t(c)];
      for (Index c = 0; c < D; ++c) {
        S[std::size_t(c * D + d)] += ks[std::size_t(c)] * u;
        sum += S[std::size_t(c * D + d)] * qs[std::size_t(c)];
      }
      out[at] = double(problem.scale) * sum;
    }
  }
};

/// Every form of gates that a mechanism has, over two sequences of a length.
inline std::vector<RecurrenceProblem> recurrence_forms(Index length, Index width = 6) {
  const RecurrenceProblem plain{.sequences = Sequences::self(2, length, true),
                                .heads = 2,
                                .key_heads = 2,
                                .width = width,
                                .scale = Real(0.5)};
  std::vector<RecurrenceProblem> all;
  const auto add = [&](GateForm decay, GateForm write, GateForm erase, bool unit, Index key_heads) {
    all.push_back(plain);
    all.back().decay = decay;
    all.back().write = write;
    all.back().erase = erase;
    all.back().unit = unit;
    all.back().key_heads = key_heads;
  };
  using enum GateForm;
  add(none, none, none, false, 2);
  add(head, none, none, false, 2);
  add(column, none, none, false, 2);
  add(token, token, none, false, 1);
  add(none, token, token, true, 2);
  add(token, token, token, true, 2);
  add(column, token, token, true, 2);
  add(column, column, column, true, 1);
  return all;
}

inline std::string describe(const RecurrenceProblem& p) {
  const auto name = [](GateForm form) {
    return std::vector<std::string>{"none", "head", "token", "column"}[std::size_t(form)];
  };
  return "decay " + name(p.decay) + ", write " + name(p.write) + ", erase " + name(p.erase);
}

}  // namespace weft::layers
