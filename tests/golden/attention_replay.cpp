#include "tests/golden/attention_replay.h"

#include "core/error.h"
#include "layers/attention/registry.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;

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
  for (const layers::Projection& projection : attention.projections()) {
    const std::string name(projection.name);
    const core::Shape shape = golden.shape("in/" + name);
    core::require(shape.rank() == 4, "in/", name, " is ", shape, ", expected [B, H, T, D]");
    const Index columns = shape[1] * shape[3];
    const Index blocks = packed ? Index(attention.projections().size()) : 1;
    if (!packed || layout.matrices.empty())
      layout.matrices.emplace_back(core::Shape{shape[0] * shape[2], blocks * columns});
    layout.places.push_back({name, shape, layout.matrices.size() - 1,
                             packed ? Index(layout.places.size()) * columns : 0});
    put(golden.numbers("in/" + name), shape, layout.matrices.back(), layout.places.back().first);
  }
  return layout;
}

void replay(Case& golden, const layers::Attention& attention, const layers::Sequences& sequences,
            const Layout& layout) {
  autograd::Tape tape;
  autograd::Journal journal;
  std::vector<Var> leaves;
  for (const Tensor& matrix : layout.matrices) leaves.push_back(tape.watch(matrix));
  layers::AttentionInput input{{}, {}, sequences};
  for (const auto& place : layout.places)
    input.blocks.push_back({leaves[place.matrix], place.first});
  const Var out = attention.forward(autograd::Pass(tape, core::Rng(0), journal), input);
  const core::Shape shape = golden.shape("out");
  golden.compare("out", take(out.value(), shape, 0));
  Tensor upstream(out.shape());
  put(golden.numbers("grad_out"), shape, upstream, 0);
  tape.sweep(out, upstream);
  for (const auto& place : layout.places)
    golden.compare("grad/" + place.name,
                   take(tape.gradient(leaves[place.matrix]), place.shape, place.first));
}

}  // namespace

GoldenParameters::GoldenParameters(const Case& golden, layers::Attention& attention,
                                   const std::map<std::string, std::string>& names)
    : names_(names) {
  using autograd::ParameterArena;
  autograd::Inventory inventory;
  attention.visit(inventory);
  arena_ = std::make_unique<ParameterArena>(inventory, ParameterArena::Use::training);
  for (const ParameterArena::Segment& segment : arena_->segments()) {
    const std::string path = "in/" + names_.at(segment.name);
    core::require(golden.shape(path) == segment.shape, path, " is ", golden.shape(path),
                  ", the mechanism's is ", segment.shape);
    std::ranges::copy(golden.numbers(path), arena_->value(segment).begin());
  }
}

void GoldenParameters::compare_gradients(Case& golden) const {
  for (const auto& segment : arena_->segments())
    golden.compare(
        "grad/" + names_.at(segment.name),
        arena_->gradients().subspan(std::size_t(segment.offset), std::size_t(segment.size)));
}

std::unique_ptr<layers::Attention> make_attention(const std::string& kind,
                                                  const core::Shape& queries, bool causal,
                                                  const tests::Settings& settings) {
  core::require(queries.rank() == 4, "queries are ", queries, ", expected [B, H, T, D]");
  const layers::AttentionSite site{.width = queries[1] * queries[3],
                                   .heads = queries[1],
                                   .head_width = queries[3],
                                   .length = queries[2],
                                   .causal = causal};
  tests::GivenFields fields(settings);
  auto attention = layers::find_attention(kind)->configure(fields, site)(site);
  for (const auto& [key, problem] : fields.problems())
    core::require(false, kind, " attention: ", key, " ", problem);
  return attention;
}

void replay_attention(Case& golden, const layers::Attention& attention, bool causal,
                      GoldenParameters* parameters) {
  using Side = layers::Projection::Side;
  layers::Sequences sequences{.causal = causal};
  for (const layers::Projection& projection : attention.projections()) {
    const core::Shape shape = golden.shape("in/" + std::string(projection.name));
    sequences.batch = shape[0];
    (projection.side == Side::queries ? sequences.queries : sequences.keys) = shape[2];
  }
  for (const bool packed : {false, true}) {
    if (packed && sequences.queries != sequences.keys) continue;
    if (parameters) parameters->zero_gradients();
    replay(golden, attention, sequences, lay_out(golden, attention, packed));
    if (parameters) parameters->compare_gradients(golden);
  }
}

}  // namespace weft::golden
