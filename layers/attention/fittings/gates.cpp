#include "layers/attention/fittings/gates.h"

#include <algorithm>
#include <cmath>

#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {
namespace {

/// body(first, count) over pieces of an array.
void by_piece(Index size, const std::function<void(Index, Index)>& body) {
  core::parallel_for(size, core::elementwise_grain,
                     [&](Index begin, Index end) { body(begin, end - begin); });
}

/// Columns of each of the heads that a parameter [H] has numbers for.
Index head_columns(const char* what, const core::Shape& x, const autograd::Parameter& of_heads) {
  const Index heads = of_heads.shape().size();
  core::require(x.rank() == 2 && x[1] % heads == 0, what, ": ", x, " is not columns of ", heads,
                " heads");
  return x[1] / heads;
}

}  // namespace

/// dx = dy y (1 - y / factor).  Saves: y.
Var logistic(const Var& x, Real factor) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  by_piece(y.size(), [&](Index first, Index count) {
    core::simd().logistic(x.value().data() + first, to + first, count);
    if (factor != 1) core::simd().scale(factor, to + first, count);
  });
  const Tensor kept = y;
  return autograd::record("logistic", std::move(y), {x}, [kept, factor](Tensor dy) {
    Real* d = dy.write().data();
    by_piece(dy.size(), [&](Index first, Index count) {
      for (Index i = first; i < first + count; ++i)
        d[i] *= kept.data()[i] * (1 - kept.data()[i] / factor);
    });
    return autograd::Gradients{std::move(dy)};
  });
}

/// dx = dy (1 - e^-y).  Saves: y.
Var softplus(const Var& x) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  by_piece(y.size(), [&](Index first, Index count) {
    core::simd().softplus(x.value().data() + first, to + first, count);
  });
  const Tensor kept = y;
  return autograd::record("softplus", std::move(y), {x}, [kept](Tensor dy) {
    Real* d = dy.write().data();
    by_piece(dy.size(), [&](Index first, Index count) {
      core::simd().softplus_gradient(kept.data() + first, d + first, count);
    });
    return autograd::Gradients{std::move(dy)};
  });
}

/// With y above the floor, dx = dy (1 - e^(divisor y)) / divisor; 0 at the floor.  Saves: y.
Var log_logistic(const Var& x, Real divisor, Real floor) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  by_piece(y.size(), [&](Index first, Index count) {
    for (Index i = first; i < first + count; ++i) to[i] = -x.value().data()[i];
    core::simd().softplus(to + first, to + first, count);
    for (Index i = first; i < first + count; ++i) to[i] = std::max(-to[i] / divisor, floor);
  });
  const Tensor kept = y;
  return autograd::record("log_logistic", std::move(y), {x}, [kept, divisor, floor](Tensor dy) {
    Real* d = dy.write().data();
    by_piece(dy.size(), [&](Index first, Index count) {
      const Real* own = kept.data();
      for (Index i = first; i < first + count; ++i)
        d[i] *= own[i] > floor ? -std::expm1(divisor * own[i]) / divisor : 0;
    });
    return autograd::Gradients{std::move(dy)};
  });
}

/// dx = sign e^a dy; da = the sum of dy y over the head's numbers.  Saves: x.
Var scale_heads(const Var& x, const autograd::Parameter& log_scale, Real sign) {
  const Index columns = head_columns("scale_heads", x.shape(), log_scale);
  const Index heads = log_scale.shape().size(), rows = x.shape()[0];
  std::vector<Real> factors;
  for (const Real a : log_scale.value().read()) factors.push_back(sign * std::exp(a));
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(heads * columns), [&](Index begin, Index end) {
    for (Index i = begin * heads * columns; i < end * heads * columns; ++i)
      to[i] = factors[std::size_t(i / columns % heads)] * x.value().data()[i];
  });
  return autograd::record("scale_heads", std::move(y), {x},
                          [kept = x.value(), factors, &log_scale, rows, heads, columns](Tensor dy) {
                            Real* d = dy.write().data();
                            const auto pull = [&](Index begin, Index end, Real* sums) {
                              for (Index i = begin * heads * columns; i < end * heads * columns;
                                   ++i) {
                                const auto h = std::size_t(i / columns % heads);
                                d[i] *= factors[h];
                                sums[h] += d[i] * kept.data()[i];
                              }
                            };
                            autograd::sum_over_rows(rows, heads, log_scale.gradient(), pull);
                            return autograd::Gradients{std::move(dy)};
                          });
}

/// do = dy, dv = skip dy; dskip = the sum of dy v over the head's numbers.  Saves: v.
Var add_skipped(const Var& o, const HeadBlock& v, const autograd::Parameter& skip) {
  const Index columns = head_columns("add_skipped", o.shape(), skip);
  const Index heads = skip.shape().size(), rows = o.shape()[0];
  const ConstHeads from = heads_of(v);
  Tensor y(o.shape());
  Real* to = y.write().data();
  const auto for_each_head = [=](Index begin, Index end, const auto& body) {
    for (Index t = begin; t < end; ++t)
      for (Index h = 0; h < heads; ++h) body(t, h);
  };
  core::parallel_for(rows, core::rows_per_piece(heads * columns), [&](Index begin, Index end) {
    for_each_head(begin, end, [&](Index t, Index h) {
      const Index at = (t * heads + h) * columns;
      std::copy_n(o.value().data() + at, columns, to + at);
      core::simd().axpy(skip.data()[h], from.data + t * from.stride + h * columns, to + at,
                        columns);
    });
  });
  const HeadGradients gradients({v}, heads * columns);
  return autograd::record("add_skipped", std::move(y), {o, v.matrix},
                          [v, gradients, &skip, rows, heads, columns, for_each_head](Tensor dy) {
                            autograd::Gradients all = gradients.allocate();
                            const Heads dv = gradients.heads(all, 0);
                            const ConstHeads given = heads_of(v);
                            const auto pull = [&](Index begin, Index end, Real* sums) {
                              for_each_head(begin, end, [&](Index t, Index h) {
                                const Real* d = dy.data() + (t * heads + h) * columns;
                                Real* own = dv.data + t * dv.stride + h * columns;
                                for (Index c = 0; c < columns; ++c) own[c] = skip.data()[h] * d[c];
                                sums[h] += core::simd().dot(
                                    d, given.data + t * given.stride + h * columns, columns);
                              });
                            };
                            autograd::sum_over_rows(rows, heads, skip.gradient(), pull);
                            return autograd::Gradients{std::move(dy), std::move(all[0])};
                          });
}

/// With a = logistic(share): do_2h = dy, do_(2h + 1) = -a dy, dshare = -a (1 - a) (dy . o_(2h +
/// 1)). Saves: o and the shares.
Var subtract_gated(const Var& o, const Var& share) {
  const Index rows = o.shape()[0], heads = share.shape()[1];
  core::require(share.shape()[0] == rows && o.shape()[1] % (2 * heads) == 0, "subtract_gated: o ",
                o.shape(), " with shares ", share.shape());
  const Index width = o.shape()[1] / (2 * heads);
  /// body(first number of the pair of heads, its share, where that is)
  const auto for_each_pair = [=](const Tensor& shares, const auto& body) {
    core::parallel_for(rows, core::rows_per_piece(2 * heads * width), [&](Index begin, Index end) {
      for (Index i = begin * heads; i < end * heads; ++i)
        body(2 * i * width, 1 / (1 + std::exp(-shares.data()[i])), i);
    });
  };
  Tensor y({rows, heads * width});
  Real* to = y.write().data();
  for_each_pair(share.value(), [&](Index at, Real open, Index i) {
    std::copy_n(o.value().data() + at, width, to + i * width);
    core::simd().axpy(-open, o.value().data() + at + width, to + i * width, width);
  });
  return autograd::record(
      "subtract_gated", std::move(y), {o, share},
      [for_each_pair, given = o.value(), shares = share.value(), width](Tensor dy) {
        Tensor d(given.shape()), dshare(shares.shape());
        Real *to_heads = d.write().data(), *to_share = dshare.write().data();
        for_each_pair(shares, [&](Index at, Real open, Index i) {
          const Real* own = dy.data() + i * width;
          std::copy_n(own, width, to_heads + at);
          for (Index c = 0; c < width; ++c) to_heads[at + width + c] = -open * own[c];
          to_share[i] =
              -open * (1 - open) * core::simd().dot(own, given.data() + at + width, width);
        });
        return autograd::Gradients{std::move(d), std::move(dshare)};
      });
}

/// With a = logistic(gate): dx = a dy, dgate = a (1 - a) (dy . x).  Saves: x and the gates.
Var sum_gated(const std::vector<Var>& x, const std::vector<Var>& gates) {
  const core::Shape shape = x.at(0).shape(), of_gates = gates.at(0).shape();
  const Index rows = shape[0], heads = of_gates[1], width = shape[1] / heads;
  std::vector<Var> sources = x;
  std::vector<Tensor> given, open;
  for (std::size_t i = 0; i < x.size(); ++i) {
    core::require(x[i].shape() == shape && gates[i].shape() == of_gates && of_gates[0] == rows,
                  "sum_gated: ", x[i].shape(), " with gates ", gates[i].shape());
    sources.push_back(gates[i]);
    given.push_back(x[i].value());
    open.push_back(gates[i].value());
  }
  /// body(first number of a head, which head of all rows)
  const auto for_each_head = [=](const auto& body) {
    core::parallel_for(rows, core::rows_per_piece(heads * width), [&](Index begin, Index end) {
      for (Index i = begin * heads; i < end * heads; ++i) body(i * width, i);
    });
  };
  const auto logistic_of = [](Real z) { return 1 / (1 + std::exp(-z)); };
  Tensor y(shape, 0);
  Real* to = y.write().data();
  for_each_head([&](Index at, Index i) {
    for (std::size_t part = 0; part < given.size(); ++part)
      core::simd().axpy(logistic_of(open[part].data()[i]), given[part].data() + at, to + at, width);
  });
  return autograd::record(
      "sum_gated", std::move(y), sources,
      [given, open, for_each_head, logistic_of, width](Tensor dy) {
        autograd::Gradients d;
        std::vector<Real*> to_x, to_gates;
        for (const auto* of : {&given, &open})
          for (const Tensor& like : *of) d.emplace_back(like.shape());
        for (std::size_t i = 0; i < given.size(); ++i) {
          to_x.push_back(d[i].write().data());
          to_gates.push_back(d[given.size() + i].write().data());
        }
        for_each_head([&](Index at, Index i) {
          for (std::size_t part = 0; part < given.size(); ++part) {
            const Real a = logistic_of(open[part].data()[i]);
            const Real* own = dy.data() + at;
            for (Index c = 0; c < width; ++c) to_x[part][at + c] = a * own[c];
            to_gates[part][i] = a * (1 - a) * core::simd().dot(own, given[part].data() + at, width);
          }
        });
        return d;
      });
}

}  // namespace weft::layers
