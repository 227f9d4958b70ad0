#include <algorithm>

#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/parts/experts/expert_ops.h"

namespace weft::layers {
namespace {

/// Copies the rows of x whose choices are in places [first, first + count), zeros for filler.
void gather(const ExpertChoice& choice, const Tensor& x, Index first, Index count, Real* to) {
  const Index width = x.shape().back();
  for (Index i = 0; i < count; ++i, to += width) {
    const Index source = choice.source[std::size_t(first + i)];
    if (source < 0)
      std::fill_n(to, width, Real(0));
    else
      std::copy_n(x.data() + source / choice.choices * width, width, to);
  }
}

/// Each row's sum over its choices, in their order, of factor * the row at its place; factors:
/// [N, choices], or null for 1.  placed: [places, W] -> [N, W]
Tensor collect(const ExpertChoice& choice, const Tensor& placed, const Real* factors, Index rows) {
  const Index width = placed.shape().back(), k = choice.choices;
  Tensor y({rows, width}, 0);
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(width), [&](Index begin, Index end) {
    for (Index at = begin * k; at < end * k; ++at)
      if (const Index place = choice.place[std::size_t(at)]; place >= 0)
        core::simd().axpy(factors ? factors[at] : 1, placed.data() + place * width,
                          to + at / k * width, width);
  });
  return y;
}

/// One expert's rows of one shape: what the tasks are made of.
struct Panel {
  Index expert, first, rows;
};

template <class Body>
void each_panel(const ExpertChoice& choice, const Body& body) {
  core::parallel_for(choice.places() / choice.panel, 1, [&](Index number, Index) {
    body(Panel{choice.expert_of_panel(number), number * choice.panel, choice.panel});
  });
}

core::Matrix rows_of(Real* data, const Panel& panel, Index width) {
  return {data + panel.first * width, panel.rows, width, width};
}
core::ConstMatrix rows_of(const Real* data, const Panel& panel, Index width) {
  return {data + panel.first * width, panel.rows, width, width};
}

/// What the sweep reads again: x W1 before its bias, and the open units.
struct Hidden {
  Tensor before, open;  ///< [places, F]
};

/// -> [places, W], before the gates
Tensor run_experts(const ExpertChoice& choice, const ExpertWeights& w, const Tensor& x,
                   Hidden& hidden) {
  const Index W = w.width(), F = w.hidden();
  Tensor placed({choice.places(), W});
  hidden = {Tensor({choice.places(), F}), Tensor({choice.places(), F})};
  Real *out = placed.write().data(), *before = hidden.before.write().data(),
       *open = hidden.open.write().data();
  each_panel(choice, [&](const Panel& panel) {
    Tensor own({panel.rows, W});
    gather(choice, x, panel.first, panel.rows, own.write().data());
    const core::Matrix h = rows_of(before, panel, F), y = rows_of(out, panel, W);
    core::gemm(1, core::ConstMatrix{own.data(), panel.rows, W, W},
               core::transposed(w.in_of(panel.expert)), 0, h);
    for (Index i = 0; i < panel.rows; ++i) {
      core::simd().bias_gelu(h.data + i * F, w.in_bias_of(panel.expert),
                             open + (panel.first + i) * F, F);
      std::copy_n(w.out_bias_of(panel.expert), W, y.data + i * W);
    }
    core::gemm(1, rows_of(static_cast<const Real*>(open), panel, F),
               core::transposed(w.out_of(panel.expert)), 1, y);
  });
  return placed;
}

/// The gradients at the places, from which those of x, gates and weights are summed.
struct PlacedGradients {
  Tensor dy;     ///< times the gate, [places, W]
  Tensor dh;     ///< before the first bias, [places, F]
  Tensor x, dx;  ///< [places, W]
  Tensor dgates;
};

PlacedGradients pull_back_places(const ExpertChoice& choice, const ExpertWeights& w,
                                 const Tensor& x, const Tensor& gates, const Hidden& hidden,
                                 const Tensor& dy) {
  const Index W = w.width(), F = w.hidden(), places = choice.places();
  PlacedGradients g{Tensor({places, W}), Tensor({places, F}), Tensor({places, W}),
                    Tensor({places, W}), Tensor(gates.shape(), 0)};
  Real *dout = g.dy.write().data(), *dh = g.dh.write().data(), *xs = g.x.write().data(),
       *dx = g.dx.write().data(), *dgates = g.dgates.write().data();
  each_panel(choice, [&](const Panel& panel) {
    gather(choice, x, panel.first, panel.rows, xs + panel.first * W);
    gather(choice, dy, panel.first, panel.rows, dout + panel.first * W);
    core::gemm(1, rows_of(static_cast<const Real*>(dout), panel, W), w.out_of(panel.expert), 0,
               rows_of(dh, panel, F));
    for (Index place = panel.first; place < panel.first + panel.rows; ++place) {
      const Index source = choice.source[std::size_t(place)];
      if (source < 0) continue;
      dgates[source] = core::simd().dot(dh + place * F, hidden.open.data() + place * F, F) +
                       core::simd().dot(dout + place * W, w.out_bias_of(panel.expert), W);
      const Real gate = gates.data()[source];
      core::simd().scale(gate, dout + place * W, W);
      core::simd().scale(gate, dh + place * F, F);
      core::simd().bias_gelu_gradient(hidden.before.data() + place * F, w.in_bias_of(panel.expert),
                                      dh + place * F, F);
    }
    core::gemm(1, rows_of(static_cast<const Real*>(dh), panel, F), w.in_of(panel.expert), 0,
               rows_of(dx, panel, W));
  });
  return g;
}

/// Adds the gradients of every expert's weights, over its rows in the order of their places.
void teach_weights(const ExpertChoice& choice, const ExpertWeights& w, const Hidden& hidden,
                   const PlacedGradients& g) {
  if (w.in.gradient().empty()) return;
  const Index W = w.width(), F = w.hidden();
  for (Index e = 0; e < w.experts(); ++e) {
    const Panel own{e, choice.begin[std::size_t(e)], choice.taken[std::size_t(e)]};
    if (own.rows == 0) continue;
    core::parallel_gemm(1, core::transposed(rows_of(g.dh.data(), own, F)),
                        rows_of(g.x.data(), own, W), 1,
                        {w.in.gradient().data() + e * F * W, F, W, W});
    core::parallel_gemm(1, core::transposed(rows_of(g.dy.data(), own, W)),
                        rows_of(hidden.open.data(), own, F), 1,
                        {w.out.gradient().data() + e * F * W, W, F, F});
    autograd::add_row_sums(g.dh.rows(own.first, own.rows),
                           w.in_bias.gradient().subspan(std::size_t(e * F), std::size_t(F)));
    autograd::add_row_sums(g.dy.rows(own.first, own.rows),
                           w.out_bias.gradient().subspan(std::size_t(e * W), std::size_t(W)));
  }
}

}  // namespace

core::ConstMatrix ExpertWeights::in_of(Index expert) const {
  return {in.data() + expert * hidden() * width(), hidden(), width(), width()};
}
core::ConstMatrix ExpertWeights::out_of(Index expert) const {
  return {out.data() + expert * hidden() * width(), width(), hidden(), hidden()};
}

/// y = sum over a row's choices of g o with o = gelu(h) W2 + b2, h = x W1 + b1.
/// With u = dy W2^T: dg = u . gelu(h) + dy . b2, dh = g u gelu'(h), dx = sum of dh W1^T over the
/// choices; each expert's weights learn from its own rows.
/// Saves: x, the gates, the choice, x W1 and gelu(h) at every place.
Var expert_products(const Var& x, const Var& gates, const SharedChoice& choice,
                    const ExpertWeights& w) {
  const Index rows = x.shape().rows();
  core::require(x.shape().rank() == 2 && x.shape().back() == w.width() &&
                    choice->experts() == w.experts() &&
                    Index(choice->place.size()) == rows * choice->choices &&
                    gates.value().size() == rows * choice->choices,
                "expert_products: input ", x.shape(), " and gates ", gates.shape(), " do not fit ",
                choice->place.size(), " choices of ", choice->experts(), " experts with weights ",
                w.in.shape());
  Hidden hidden;
  const Tensor placed = run_experts(*choice, w, x.value(), hidden);
  Tensor y = collect(*choice, placed, gates.value().data(), rows);
  return autograd::record(
      "expert_products", std::move(y), {x, gates},
      [saved = x.value(), weighed = gates.value(), choice, w, hidden, rows](Tensor dy) {
        PlacedGradients g = pull_back_places(*choice, w, saved, weighed, hidden, dy);
        teach_weights(*choice, w, hidden, g);
        return autograd::Gradients{collect(*choice, g.dx, nullptr, rows), std::move(g.dgates)};
      });
}

}  // namespace weft::layers
