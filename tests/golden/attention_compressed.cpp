#include <algorithm>

#include "autograd/ops.h"
#include "layers/attention/chosen/gathered.h"
#include "layers/attention/chosen/position_branch.h"
#include "layers/attention/chosen/soft_pool.h"
#include "layers/attention/chosen/token_index.h"
#include "layers/attention/pattern/call.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Shape;
using core::Tensor;

/// A case's shapes and settings.
struct Compressed {
  explicit Compressed(const Case& golden)
      : q(golden.shape("in/q")),
        k(golden.shape("in/k")),
        pool{golden.integer("ratio"), k[1] * k[3]},
        window(golden.integer("window")),
        scale(Real(golden.number("scale"))),
        sequences(layers::Sequences::self(q[0], q[2], true)) {}

  Index entries() const { return pool.entries(q[2]); }

  /// All entries that are closed.
  Var read_all(const std::vector<layers::HeadBlock>& blocks, const Var& sinks) const {
    const layers::PositionBranch branch(
        {q[1], k[1], q[3], scale}, [this](Index tokens) { return entries() + tokens; },
        [this](Index) {
          return united(layers::stair_pattern([this](Index t) { return pool.entries(t + 1); }),
                        layers::window_behind(entries(), window));
        });
    layers::PatternCall call{branch.problem(sequences), blocks, {}, {}};
    call.sinks = sinks;
    return call.attend();
  }

  /// Those that were chosen.
  Var read_chosen(const layers::RowChoice& choice, const std::vector<layers::HeadBlock>& blocks,
                  const Var& sinks) const {
    layers::GatheredProblem problem{.sequences = {q[0], q[2], entries() + q[2], false},
                                    .heads = q[1],
                                    .key_heads = k[1],
                                    .head_width = q[3],
                                    .scale = scale,
                                    .read =
                                        [&choice, first = entries(), width = window](
                                            Index b, Index t, std::vector<std::int32_t>& to) {
                                          const auto own = choice.of(b, t);
                                          to.insert(to.end(), own.begin(), own.end());
                                          for (Index j = std::max<Index>(0, t - width + 1); j <= t;
                                               ++j)
                                            to.push_back(std::int32_t(first + j));
                                        },
                                    .most = choice.most + window};
    return layers::gathered_attention(problem, blocks, sinks).out;
  }

  /// The choice by the index of the case, and whether it is the case's.
  layers::RowChoice choose(Case& golden) const {
    const Shape shape = golden.shape("in/index_q");
    const auto flat = [&](const std::string& name) {
      const Shape own = golden.shape(name);
      Tensor matrix({own[0] * own[1], own[2]});
      std::ranges::copy(golden.numbers(name), matrix.write().begin());
      return Var(matrix);
    };
    const layers::TokenIndex index{shape[1], shape[3], Real(golden.number("index_scale"))};
    const Index selected = golden.integer("selected"), length = q[2];
    const Var all(by_token(golden.numbers("in/index_q"), shape));
    std::vector<Var> heads;
    for (Index i = 0; i < shape[1]; ++i)
      heads.push_back(autograd::slice(all, i * shape[3], shape[3]));
    layers::RowChoice choice =
        index.choose({heads, flat("in/index_k"), flat("in/index_w")}, q[0], selected,
                     [this](Index, Index t) { return pool.entries(t + 1); });
    std::vector<Real> chosen;
    for (Index t = 0; t < q[0] * length; ++t)
      for (Index i = 0; i < selected; ++i) {
        const auto own = choice.of(t / length, t % length);
        chosen.push_back(i < Index(own.size()) ? Real(own[std::size_t(i)]) : -1);
      }
    golden.compare("state/chosen", chosen);
    return choice;
  }

  Shape q, k;
  layers::SoftPool pool;
  Index window;
  Real scale;
  layers::Sequences sequences;
};

}  // namespace

void attention_compressed(Case& golden) {
  const Compressed c(golden);
  autograd::Tape tape;
  const auto watch = [&](const std::string& name, const Shape& shape) {
    return tape.watch(by_token(golden.numbers("in/" + name), shape));
  };
  const Var q = watch("q", c.q), k = watch("k", c.k), v = watch("v", c.k), z = watch("z", c.k);
  const Shape of_bias = golden.shape("in/z_bias");
  Tensor bias({c.pool.ratio, c.pool.columns}), sinks({c.q[1]});
  std::ranges::copy(by_axes(golden.numbers("in/z_bias"), of_bias, {1, 0, 2}), bias.write().begin());
  std::ranges::copy(golden.numbers("in/sinks"), sinks.write().begin());
  const Var z_bias = tape.watch(bias), sink = tape.watch(sinks);
  const Var joined = c.pool.join({{k, 0}, {v, 0}, {z, 0}}, z_bias, c.q[0]);
  const std::vector<layers::HeadBlock> blocks{{q, 0}, {joined, 0}, {joined, c.pool.columns}};
  layers::RowChoice choice;
  if (golden.has("in/index_q")) choice = c.choose(golden);
  const Var out =
      golden.has("in/index_q") ? c.read_chosen(choice, blocks, sink) : c.read_all(blocks, sink);
  golden.compare("out", by_case(out.value(), c.q));
  tape.sweep(out, by_token(golden.numbers("grad_out"), c.q));
  golden.compare("grad/q", by_case(tape.gradient(q), c.q));
  golden.compare("grad/k", by_case(tape.gradient(k), c.k));
  golden.compare("grad/v", by_case(tape.gradient(v), c.k));
  golden.compare("grad/z", by_case(tape.gradient(z), c.k));
  golden.compare("grad/z_bias", back_by_axes(tape.gradient(z_bias).read(), of_bias, {1, 0, 2}));
  golden.compare("grad/sinks", tape.gradient(sink).read());
}

}  // namespace weft::golden
