#include <algorithm>

#include "core/error.h"
#include "layers/model/row_spread.h"
#include "layers/settings/attention_plans.h"
#include "layers/stack/block.h"
#include "tests/golden/golden_parameters.h"
#include "tests/layers/given_fields.h"

namespace weft::golden {
namespace {

using autograd::Var;
using core::Tensor;

/// What each parameter of a layer is called in a case.
const GoldenParameters::Placings placings{{"attention.projection.weight", {"Wqkv", {1, 0}}},
                                          {"attention.projection.bias", "bqkv"},
                                          {"attention.mechanism.labels", "a"},
                                          {"attention.output.weight", {"Wo", {1, 0}}},
                                          {"attention.output.bias", "bo"},
                                          {"attention_norm.weight", "gain1"},
                                          {"attention_norm.bias", "shift1"},
                                          {"feed_forward.in.weight", {"W1", {1, 0}}},
                                          {"feed_forward.in.bias", "b1"},
                                          {"feed_forward.out.weight", {"W2", {1, 0}}},
                                          {"feed_forward.out.bias", "b2"},
                                          {"feed_forward_norm.weight", "gain2"},
                                          {"feed_forward_norm.bias", "shift2"}};

/// One layer of an array with an axis of layers.
std::vector<double> part(const std::vector<double>& all, Index layer, Index layers) {
  const Index each = Index(all.size()) / layers;
  return {all.begin() + layer * each, all.begin() + (layer + 1) * each};
}

core::Shape shape_of_layer(const core::Shape& shape) {
  std::vector<Index> extents;
  for (Index axis = 1; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return core::Shape(std::span<const Index>(extents));
}

/// The layers of a case with their parameters.
class Stack {
 public:
  explicit Stack(const Case& golden) : layers_(golden.shape("in/Wqkv")[0]) {
    const Index width = golden.shape("in/x")[2], heads = golden.integer("heads");
    const layers::AttentionSite site{.layers = layers_,
                                     .width = width,
                                     .heads = heads,
                                     .head_width = width / heads,
                                     .length = golden.shape("in/x")[1],
                                     .causal = golden.flag("causal")};
    tests::GivenFields fields({{"fan", golden.integer("fan")}, {"clip", golden.integer("clip")}});
    const auto plan = layers::read_attention(fields, "bp", site);
    const layers::ResidualForm form{.width = width, .place = layers::NormPlace::post};
    const auto zeros = layers::Init::zeros();
    for (Index layer = 0; layer < layers_; ++layer) {
      blocks_.emplace_back(
          layers::MultiHead(plan, site, zeros, zeros, nullptr),
          std::make_unique<layers::DenseFeedForward>(width, golden.shape("in/W1")[2], zeros, zeros),
          form);
      inventories_.emplace_back();
      blocks_.back().visit(inventories_.back());
      arenas_.push_back(std::make_unique<autograd::ParameterArena>(
          inventories_.back(), autograd::ParameterArena::Use::training));
      fill(golden, layer);
    }
    rows_.emplace(plan[0].attention.rows, width);
  }

  const layers::RowSpread& rows() const { return *rows_; }
  Var run(const autograd::Pass& pass, Var x, const layers::Sequences& sequences) const {
    for (std::size_t i = 0; i + 1 < blocks_.size(); ++i)
      x = blocks_[i].forward(pass.at(i), x, sequences);
    return blocks_.back().forward_rows(pass.at(blocks_.size() - 1), x, sequences,
                                       rows_->read(sequences, true));
  }

  void compare_gradients(Case& golden) const {
    for (Index layer = 0; layer < layers_; ++layer)
      for (const auto& slot : arenas_[std::size_t(layer)]->slots()) {
        const Placing& placing = placings.at(slot.name);
        const std::string path = "grad/" + placing.array;
        if (!golden.has(path)) continue;
        const core::Shape shape = shape_of_layer(golden.shape(path));
        const auto own = arenas_[std::size_t(layer)]->gradients().subspan(std::size_t(slot.offset),
                                                                          std::size_t(slot.size));
        golden.compare(path, back_by_axes(own, shape, placing.axes),
                       part(golden.numbers(path), layer, layers_));
      }
  }

 private:
  void fill(const Case& golden, Index layer) {
    autograd::ParameterArena& arena = *arenas_[std::size_t(layer)];
    for (const auto& slot : arena.slots()) {
      const Placing& placing = placings.at(slot.name);
      const std::string path = "in/" + placing.array;
      const auto own = part(golden.numbers(path), layer, layers_);
      core::require(Index(own.size()) == slot.size, path, " is ", golden.shape(path),
                    ", a layer's is ", slot.shape);
      std::ranges::copy(by_axes(own, shape_of_layer(golden.shape(path)), placing.axes),
                        arena.value(slot).begin());
    }
  }

  Index layers_;
  std::vector<layers::Block> blocks_;
  std::vector<autograd::Inventory> inventories_;
  std::vector<std::unique_ptr<autograd::ParameterArena>> arenas_;
  std::optional<layers::RowSpread> rows_;
};

/// Row 0 of each sequence, the root, and behind it the tokens: [B, T + 1, W] from those apart.
std::vector<Real> joined(const Tensor& roots, const Tensor& tokens) {
  const Index batch = roots.shape()[0], each = tokens.size() / batch, width = roots.shape()[1];
  std::vector<Real> all;
  for (Index b = 0; b < batch; ++b) {
    all.insert(all.end(), roots.data() + b * width, roots.data() + (b + 1) * width);
    all.insert(all.end(), tokens.data() + b * each, tokens.data() + (b + 1) * each);
  }
  return all;
}

}  // namespace

void encoder_bp(Case& golden) {
  core::require(golden.text("activation") == "gelu", "encoder.bp: an activation '",
                golden.text("activation"), "'");
  core::require(std::abs(golden.number("norm_eps") - 1e-5) < 1e-12, "encoder.bp: norms have 1e-5");
  const Stack stack(golden);
  const core::Shape shape = golden.shape("in/x");
  const Index batch = shape[0], length = shape[1], width = shape[2];
  Tensor x({batch * length, width});
  std::ranges::copy(golden.numbers("in/x"), x.write().begin());
  const auto lengths = golden.integers("in/lengths");
  layers::Sequences tokens = layers::Sequences::self(batch, length, golden.flag("causal"));
  tokens.key_lengths = std::make_shared<const std::vector<Index>>(lengths.begin(), lengths.end());
  const layers::Sequences rows = stack.rows().over(tokens);
  autograd::Tape tape;
  autograd::Journal journal;
  const autograd::Pass pass(tape, core::Rng(0), journal);
  const Var in = tape.watch(x);
  const Var h = stack.run(pass, stack.rows().spread(pass, in, rows), rows);
  const Var root = stack.rows().roots(h, rows), out = stack.rows().tokens(h, rows, length);
  golden.compare("out", joined(root.value(), out.value()));
  const auto upstream = golden.numbers("grad_out");
  Tensor droot(root.shape()), dout(out.shape());
  for (Index b = 0; b < batch; ++b) {
    const auto first = upstream.begin() + b * (length + 1) * width;
    std::copy_n(first, width, droot.write().begin() + b * width);
    std::copy_n(first + width, length * width, dout.write().begin() + b * length * width);
  }
  // One sum of both, so that one sweep passes both gradients on.
  const auto weighted = [](const Var& y, const Tensor& by) {
    return autograd::matmul(autograd::reshape(y, {1, y.value().size()}),
                            Var(by.reshaped({by.size(), 1})));
  };
  tape.sweep(autograd::add(weighted(root, droot), weighted(out, dout)), Tensor({1, 1}, Real(1)));
  golden.compare("grad/x", tape.gradient(in).read());
  stack.compare_gradients(golden);
}

}  // namespace weft::golden
