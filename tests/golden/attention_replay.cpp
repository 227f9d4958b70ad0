#include "tests/golden/attention_replay.h"

#include "core/error.h"
#include "layers/attention/registry.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;

/// [B, H, T, D], also of an array of one head, [B, T, D].
core::Shape by_heads(const core::Shape& shape, const std::string& name) {
  core::require(shape.rank() == 3 || shape.rank() == 4, name, " is ", shape,
                ", expected [B, H, T, D] or [B, T, D]");
  return shape.rank() == 4 ? shape : core::Shape{shape[0], 1, shape[1], shape[2]};
}

/// Calls body(i, row, column) for element i of a [B, H, T, D] array, which stands in that row and
/// column of a [B * T, H * D] matrix.
template <class Body>
void for_each_place(const core::Shape& shape, const Body& body) {
  const Index H = shape[1], T = shape[2], D = shape[3];
  for (Index i = 0; i < shape.size(); ++i) {
    const Index d = i % D, t = i / D % T, h = i / (D * T) % H, b = i / (D * T * H);
    body(std::size_t(i), b * T + t, h * D + d);
  }
}

void put(const std::vector<double>& from, const core::Shape& shape, Tensor& to, Index first) {
  const Index columns = to.shape().back();
  std::span<Real> out = to.write();
  for_each_place(shape, [&](std::size_t i, Index row, Index column) {
    out[std::size_t(row * columns + first + column)] = Real(from[i]);
  });
}

std::vector<Real> take(const Tensor& from, const core::Shape& shape, Index first) {
  std::vector<Real> out(std::size_t(shape.size()));
  const Index columns = from.shape().back();
  for_each_place(shape, [&](std::size_t i, Index row, Index column) {
    out[i] = from.read()[std::size_t(row * columns + first + column)];
  });
  return out;
}

/// Where each projection stands: matrix and first column.
struct Layout {
  std::vector<Tensor> matrices;
  struct Place {
    std::string name;
    core::Shape shape;
    std::size_t matrix;
    Index first;
  };
  std::vector<Place> places;
};

Layout lay_out(const Case& golden, const layers::Attention& attention, bool packed) {
  Layout layout;
  Index all = 0, first = 0;
  const auto shape_of = [&](const std::string& name) {
    return by_heads(golden.shape("in/" + name), "in/" + name);
  };
  for (const layers::Projection& projection : attention.projections()) {
    const core::Shape shape = shape_of(std::string(projection.name));
    all += shape[1] * shape[3];
  }
  for (const layers::Projection& projection : attention.projections()) {
    const std::string name(projection.name);
    const core::Shape shape = shape_of(name);
    const Index columns = shape[1] * shape[3];
    if (!packed || layout.matrices.empty())
      layout.matrices.emplace_back(core::Shape{shape[0] * shape[2], packed ? all : columns});
    layout.places.push_back({name, shape, layout.matrices.size() - 1, packed ? first : 0});
    first += columns;
    put(golden.numbers("in/" + name), shape, layout.matrices.back(), layout.places.back().first);
  }
  return layout;
}

void replay(Case& golden, const layers::Attention& attention, const layers::Sequences& sequences,
            const Layout& layout, const ReplayHooks& hooks) {
  autograd::Tape tape;
  autograd::Journal journal;
  std::vector<Var> leaves;
  for (const Tensor& matrix : layout.matrices) leaves.push_back(tape.watch(matrix));
  layers::AttentionInput input{{}, {}, sequences};
  for (const auto& place : layout.places)
    input.blocks.push_back({leaves[place.matrix], place.first});
  const autograd::Pass pass(tape, core::Rng(0), journal);
  if (hooks.before) hooks.before(pass, journal);
  const Var out = attention.forward(pass, input);
  const core::Shape shape = by_heads(golden.shape("out"), "out");
  golden.compare("out", take(out.value(), shape, 0));
  Tensor upstream(out.shape());
  put(golden.numbers("grad_out"), shape, upstream, 0);
  tape.sweep(out, upstream);
  for (const auto& place : layout.places)
    golden.compare("grad/" + place.name,
                   take(tape.gradient(leaves[place.matrix]), place.shape, place.first));
  if (hooks.after) hooks.after(pass, journal);
}

}  // namespace

Tensor by_token(const std::vector<double>& numbers, const core::Shape& shape) {
  Tensor matrix({shape[0] * shape[2], shape[1] * shape[3]});
  put(numbers, shape, matrix, 0);
  return matrix;
}

std::vector<Real> by_case(const Tensor& matrix, const core::Shape& shape) {
  return take(matrix, shape, 0);
}

Tensor decode(const layers::Attention& attention, const std::vector<layers::HeadBlock>& blocks,
              const core::Shape& shape, const Tensor& x) {
  const Index length = shape[2], columns = shape[1] * shape[3];
  Tensor out({shape[0] * length, columns});
  for (Index b = 0; b < shape[0]; ++b) {
    const auto state = attention.begin();
    for (Index t = 0; t < length; ++t) {
      layers::StepInput step{{}, {}, t};
      if (x.size() > 0) step.x = x.rows(b * length + t, 1).read();
      for (const auto& block : blocks)
        step.blocks.push_back(block.matrix.value().rows(b * length + t, 1).read());
      attention.step(
          *state, step,
          out.write().subspan(std::size_t((b * length + t) * columns), std::size_t(columns)));
    }
  }
  return out;
}

std::unique_ptr<layers::Attention> make_attention(const Case& golden, const std::string& kind,
                                                  const core::Shape& shape, bool causal,
                                                  const tests::Settings& settings) {
  const core::Shape queries = by_heads(shape, "queries");
  const layers::AttentionSite site{.width = queries[1] * queries[3],
                                   .heads = queries[1],
                                   .head_width = queries[3],
                                   .length = queries[2],
                                   .causal = causal,
                                   .precision = golden.precision()};
  tests::GivenFields fields(settings);
  const auto make = layers::find_attention(kind)->configure(fields, site).make;
  for (const auto& [key, problem] : fields.problems())
    throw core::Error(core::message_of("setting ", key, ": ", problem));
  return make(site);
}

void replay_attention(Case& golden, const layers::Attention& attention, bool causal,
                      const ReplayHooks& hooks) {
  using Side = layers::Projection::Side;
  layers::Sequences sequences{.causal = causal};
  for (const layers::Projection& projection : attention.projections()) {
    const std::string name = "in/" + std::string(projection.name);
    const core::Shape shape = by_heads(golden.shape(name), name);
    sequences.batch = shape[0];
    (projection.side == Side::queries ? sequences.queries : sequences.keys) = shape[2];
  }
  replay(golden, attention, sequences, lay_out(golden, attention, false), hooks);
  if (sequences.queries == sequences.keys)
    replay(golden, attention, sequences, lay_out(golden, attention, true), hooks);
}

}  // namespace weft::golden
