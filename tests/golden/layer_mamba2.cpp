#include "core/error.h"
#include "layers/attention/registry.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

using autograd::ParameterArena;
using autograd::Var;
using core::Tensor;

/// The mechanism makes queries and keys from the layer's input; a case gives them beside it. So the
/// input gets their columns behind its own: matrices that the case has read its own columns only,
/// and the one for queries and keys passes theirs on.
class WideInput {
 public:
  explicit WideInput(const Case& golden)
      : width_(golden.shape("in/x")[2]),
        shared_(golden.shape("in/q")[1] * golden.shape("in/q")[3]),
        tokens_(golden.shape("in/x")[0] * golden.shape("in/x")[1]) {}

  Index width() const { return width_ + 2 * shared_; }

  Tensor rows(const Case& golden) const {
    Tensor all({tokens_, width()});
    put(golden.numbers("in/x"), all, 0, width_);
    Index first = width_;
    for (const std::string name : {"q", "k"}) {
      const Tensor block = by_token(golden.numbers("in/" + name), golden.shape("in/" + name));
      put(numbers_of(block), all, first, shared_);
      first += shared_;
    }
    return all;
  }

  /// A matrix [out, W] of the case as [out, width()], zero behind W.
  void widen(const std::vector<double>& from, std::span<Real> to) const {
    for (std::size_t i = 0; i < from.size(); ++i) to[place(i)] = Real(from[i]);
  }
  std::vector<Real> narrow(std::span<const Real> from) const {
    std::vector<Real> own(from.size() / std::size_t(width()) * std::size_t(width_));
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = from[place(i)];
    return own;
  }
  /// Queries and keys pass.
  void pass_on(std::span<Real> to) const {
    for (Index r = 0; r < 2 * shared_; ++r) to[std::size_t(r * width() + width_ + r)] = 1;
  }

  void compare(Case& golden, const Tensor& gradient) const {
    golden.compare("grad/x", narrow(gradient.read()));
    Index first = width_;
    for (const std::string name : {"q", "k"}) {
      Tensor block({tokens_, shared_});
      for (Index i = 0; i < block.size(); ++i)
        block.write()[std::size_t(i)] =
            gradient.read()[std::size_t(i / shared_ * width() + first + i % shared_)];
      golden.compare("grad/" + name, by_case(block, golden.shape("in/" + name)));
      first += shared_;
    }
  }

 private:
  static std::vector<double> numbers_of(const Tensor& x) {
    return {x.read().begin(), x.read().end()};
  }
  std::size_t place(std::size_t i) const {
    const auto own = std::size_t(width_);
    return i / own * std::size_t(width()) + i % own;
  }
  void put(const std::vector<double>& from, Tensor& to, Index first, Index columns) const {
    std::span<Real> all = to.write();
    for (Index i = 0; i < Index(from.size()); ++i)
      all[std::size_t(i / columns * width() + first + i % columns)] = Real(from[std::size_t(i)]);
  }

  Index width_, shared_, tokens_;
};

/// Array and axes of a parameter; widened where it reads the layer's input.
struct Source {
  std::string array;
  std::vector<Index> axes = {};
  bool widened = false;
};

const std::map<std::string, Source> sources{{"conv_q", {"conv_q"}},
                                            {"conv_k", {"conv_k"}},
                                            {"conv_v", {"conv_v"}},
                                            {"conv_q_bias", {"conv_q_bias"}},
                                            {"conv_k_bias", {"conv_k_bias"}},
                                            {"conv_v_bias", {"conv_v_bias"}},
                                            {"steps.weight", {"a", {1, 0}, true}},
                                            {"steps.bias", {"dt_bias"}},
                                            {"log_rate", {"A_log"}},
                                            {"skip", {"skip"}},
                                            {"gate.weight", {"gate", {1, 2, 0}, true}},
                                            {"gain", {"gain"}}};

void fill(const Case& golden, const WideInput& wide, ParameterArena& arena) {
  for (const auto& slot : arena.slots()) {
    if (slot.name == "keys.weight") {
      wide.pass_on(arena.value(slot));
      continue;
    }
    const Source& source = sources.at(slot.name);
    const std::string path = "in/" + source.array;
    const auto numbers = by_axes(golden.numbers(path), golden.shape(path), source.axes);
    if (source.widened)
      wide.widen(numbers, arena.value(slot));
    else
      std::ranges::copy(numbers, arena.value(slot).begin());
  }
}

void compare(Case& golden, const WideInput& wide, const ParameterArena& arena) {
  for (const auto& slot : arena.slots()) {
    if (slot.name == "keys.weight") continue;
    const Source& source = sources.at(slot.name);
    const auto own = arena.gradients().subspan(std::size_t(slot.offset), std::size_t(slot.size));
    const std::vector<Real> given =
        source.widened ? wide.narrow(own) : std::vector<Real>(own.begin(), own.end());
    golden.compare("grad/" + source.array,
                   back_by_axes(given, golden.shape("in/" + source.array), source.axes));
  }
}

}  // namespace

void layer_mamba2(Case& golden) {
  const core::Shape shape = golden.shape("in/v");
  const WideInput wide(golden);
  const layers::AttentionSite site{.width = wide.width(),
                                   .heads = shape[1],
                                   .head_width = shape[3],
                                   .length = shape[2],
                                   .causal = true};
  tests::GivenFields fields(
      {{"key_heads", golden.shape("in/q")[1]}, {"conv", golden.shape("in/conv_v").back()}});
  const auto attention = layers::find_attention("ssd")->configure(fields, site).make(site);
  autograd::Inventory inventory;
  attention->visit(inventory);
  ParameterArena arena(inventory, ParameterArena::Use::training);
  fill(golden, wide, arena);
  autograd::Tape tape;
  autograd::Journal journal;
  const Var x = tape.watch(wide.rows(golden));
  const Var v = tape.watch(by_token(golden.numbers("in/v"), shape));
  const Var out =
      attention->forward(autograd::Pass(tape, core::Rng(0), journal),
                         {{{v, 0}}, x, layers::Sequences::self(shape[0], shape[2], true)});
  golden.compare("out", by_case(out.value(), shape));
  tape.sweep(out, by_token(golden.numbers("grad_out"), shape));
  golden.compare("grad/v", by_case(tape.gradient(v), shape));
  wide.compare(golden, tape.gradient(x));
  compare(golden, wide, arena);
}

}  // namespace weft::golden
