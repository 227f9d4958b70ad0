#include "layers/parts/sparse_feed_forward.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace weft::layers {
namespace {

/// Uniform with the variance that keeps both activations and gradients, by Glorot and Bengio.
Init glorot(Index in, Index out) { return Init::uniform(std::sqrt(6.0 / double(in + out))); }

/// -ln(-ln u) with u kept off both ends.
double gumbel(const core::Rng& stream, std::uint64_t i) {
  return -std::log(-std::log(std::clamp(stream.uniform(i), 1e-6, 1 - 1e-6)));
}

}  // namespace

void SparseFeedForwardSettings::fields(core::Fields& field, Index hidden) {
  field.integer("ff_block", block,
                "units of a block (N), of which one is active; one token reads F / N units",
                core::between(1, 256));
  field.integer("ff_rank", rank, "rank of the controller that chooses the active units",
                core::at_least(1));
  field.number("ff_temperature", temperature, "scale of the noise in choices during training",
               core::at_least(0));
  field.number("ff_hard", hard,
               "share of training steps that choose units; the other steps weight all of them",
               core::between(0, 1));
  field.flag("ff_mask_inside", mask_inside,
             "the gate is inside the relu: only units that are chosen and positive train the "
             "controller");
  if (hidden % std::max<Index>(block, 1) != 0)
    field.problem("ff_block", core::message_of(hidden, " hidden units are not blocks of ", block));
}

autograd::LiveUnits choose_units(const Tensor& logits, Index block, double temperature,
                                 const core::Rng& stream) {
  const Index blocks = logits.size() / block;
  autograd::LiveUnits live(static_cast<std::size_t>(blocks));
  const Real* z = logits.data();
  core::parallel_for(blocks, core::rows_per_piece(block), [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      Index best = 0;
      double most = 0;
      for (Index k = 0; k < block; ++k) {
        const Index i = b * block + k;
        const double noise = temperature > 0 ? temperature * gumbel(stream, std::uint64_t(i)) : 0;
        const double score = double(z[i]) + noise;
        if (k > 0 && !(score > most)) continue;
        best = k;
        most = score;
      }
      live[std::size_t(b)] = std::uint8_t(best);
    }
  });
  return live;
}

SparseFeedForward::SparseFeedForward(Index width, Index hidden,
                                     const SparseFeedForwardSettings& settings, Index chunk)
    : settings_(settings),
      width_(width),
      hidden_(hidden),
      chunk_(chunk),
      in_({hidden, width}, glorot(width, hidden)),
      down_({settings.rank, width}, glorot(width, settings.rank)),
      up_(settings.rank, hidden, glorot(settings.rank, hidden)),
      out_(hidden, width, glorot(hidden, width)),
      strips_(in_, out_.weight()) {
  core::require(settings.block >= 1 && settings.block <= 256 && hidden % settings.block == 0,
                "sparse feed-forward: ", hidden, " hidden units in blocks of ", settings.block);
}

Var SparseFeedForward::logits(const Var& x) const {
  return up_.forward(autograd::linear(x, down_));
}

Var SparseFeedForward::run(const Pass& pass, const Var& x, bool hard) const {
  const Var scores = logits(x);
  std::shared_ptr<const autograd::LiveUnits> live;
  if (hard)
    live = pass.decide("live units", [&] {
      return choose_units(scores.value(), settings_.block,
                          pass.training() ? settings_.temperature : 0,
                          pass.stream().fold("gumbel"));
    });
  const Var open = autograd::block_gate(autograd::linear(x, in_), scores, settings_.block, live,
                                        settings_.mask_inside);
  return out_.forward(open);
}

Var SparseFeedForward::forward(const Pass& pass, const Var& x, const Sequences&) const {
  const bool hard = !pass.training() || *pass.decide("hard", [&] {
    return pass.stream().fold("coin").uniform(0) < settings_.hard;
  });
  const auto whole = [this, hard](const Pass& own, const Var& rows) {
    return run(own, rows, hard);
  };
  return chunk_ > 0 ? autograd::by_pieces(pass, whole, x, chunk_) : whole(pass, x);
}

Tensor SparseFeedForward::step(const Tensor& x) const {
  return stacked_rows(x.shape()[0], x.shape()[1], [&](Index r) { return step_row(x.rows(r, 1)); });
}

Tensor SparseFeedForward::step_row(const Tensor& x) const {
  const auto live = choose_units(logits(Var(x)).value(), settings_.block, 0, core::Rng(0));
  Tensor y({1, width_});
  std::ranges::copy(out_.bias().value().read(), y.write().begin());
  strips_.add_live_units(live, settings_.block, x.data(), y.write().data());
  return y;
}

Index SparseFeedForward::weights() const {
  return in_.shape().size() + down_.shape().size() + up_.weights() + out_.weights();
}

void SparseFeedForward::visit(Inventory& inventory) {
  inventory.add("in.weight", in_);
  inventory.add("down.weight", down_);
  inventory.enter("up", up_);
  inventory.enter("out", out_);
}

}  // namespace weft::layers
