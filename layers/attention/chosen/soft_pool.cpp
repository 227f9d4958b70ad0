#include "layers/attention/chosen/soft_pool.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// Where the gradients of one entry's rows are added.
struct RowGradients {
  Heads k, v, z;
  double* bias;  ///< [ratio, columns]
};

/// With h = k dk' + v dv':  dk += omega dk', dv += omega dv', dz = omega (h - sum_a omega h), and
/// dbias += dz.
void pull_back_entry(const SoftPool& pool, const SoftPool::Rows& rows, const Real* dk,
                     const Real* dv, const RowGradients& to) {
  std::vector<Real> weights(static_cast<std::size_t>(pool.ratio));
  for (Index c = 0; c < pool.columns; ++c) {
    pool.weigh(rows, c, weights.data());
    const auto h = [&](Index a) {
      return rows.k.data[a * rows.k.stride + c] * dk[c] +
             rows.v.data[a * rows.v.stride + c] * dv[c];
    };
    Real mean = 0;
    for (Index a = 0; a < pool.ratio; ++a) mean += weights[std::size_t(a)] * h(a);
    for (Index a = 0; a < pool.ratio; ++a) {
      const Real weight = weights[std::size_t(a)], dz = weight * (h(a) - mean);
      to.k.data[a * to.k.stride + c] += weight * dk[c];
      to.v.data[a * to.v.stride + c] += weight * dv[c];
      to.z.data[a * to.z.stride + c] = dz;
      to.bias[a * pool.columns + c] += double(dz);
    }
  }
}

ConstHeads from_row(ConstHeads x, Index row) { return {x.data + row * x.stride, x.stride}; }
Heads from_row(Heads x, Index row) { return {x.data + row * x.stride, x.stride}; }

}  // namespace

void SoftPool::weigh(const Rows& rows, Index column, Real* weights) const {
  for (Index a = 0; a < ratio; ++a)
    weights[a] = rows.z.data[a * rows.z.stride + column] + rows.bias[a * columns + column];
  const Real top = *std::max_element(weights, weights + ratio);
  Real total = 0;
  for (Index a = 0; a < ratio; ++a) total += weights[a] = std::exp(weights[a] - top);
  for (Index a = 0; a < ratio; ++a) weights[a] /= total;
}

void SoftPool::pool(const Rows& rows, Real* k, Real* v) const {
  std::vector<Real> weights(static_cast<std::size_t>(ratio));
  for (Index c = 0; c < columns; ++c) {
    weigh(rows, c, weights.data());
    k[c] = v[c] = 0;
    for (Index a = 0; a < ratio; ++a) {
      k[c] += weights[std::size_t(a)] * rows.k.data[a * rows.k.stride + c];
      v[c] += weights[std::size_t(a)] * rows.v.data[a * rows.v.stride + c];
    }
  }
}

/// A token is reached twice, by itself and through its entry.  Saves: the projections.
Var SoftPool::join(const std::vector<HeadBlock>& blocks, const Var& bias, Index batch) const {
  const Index length = blocks[0].matrix.shape()[0] / batch, all = entries(length) + length;
  const auto rows_of = [blocks, bias](Index first) {
    return Rows{from_row(heads_of(blocks[0]), first), from_row(heads_of(blocks[1]), first),
                from_row(heads_of(blocks[2]), first), bias.value().data()};
  };
  Tensor y({batch * all, 2 * columns});
  Real* out = y.write().data();
  core::parallel_for(batch * all, core::rows_per_piece(2 * ratio * columns),
                     [&](Index begin, Index end) {
                       for (Index r = begin; r < end; ++r) {
                         const Index b = r / all, row = r % all, entry = entries(length);
                         Real* to = out + r * 2 * columns;
                         if (row < entry) {
                           pool(rows_of(b * length + row * ratio), to, to + columns);
                           continue;
                         }
                         const Rows own = rows_of(b * length + row - entry);
                         std::copy_n(own.k.data, columns, to);
                         std::copy_n(own.v.data, columns, to + columns);
                       }
                     });
  const HeadGradients gradients(blocks, columns);
  std::vector<Var> sources = gradients.sources();
  sources.push_back(bias);
  return autograd::record(
      "soft_pool", std::move(y), sources,
      [own = *this, gradients, rows_of, batch, length, all](Tensor dy) {
        autograd::Gradients d = gradients.allocate();
        const Index size = own.ratio * own.columns, entry = own.entries(length);
        std::vector<double> dbias(std::size_t(batch * size), 0.0);
        const Heads dk = gradients.heads(d, 0), dv = gradients.heads(d, 1),
                    dz = gradients.heads(d, 2);
        core::parallel_for(batch, 1, [&](Index b, Index) {
          for (Index t = 0; t < length; ++t) {
            const Real* from = dy.data() + (b * all + entry + t) * 2 * own.columns;
            const Index row = b * length + t;
            std::copy_n(from, own.columns, dk.data + row * dk.stride);
            std::copy_n(from + own.columns, own.columns, dv.data + row * dv.stride);
            std::fill_n(dz.data + row * dz.stride, own.columns, Real(0));
          }
          for (Index e = 0; e < entry; ++e) {
            const Index row = b * length + e * own.ratio;
            const Real* from = dy.data() + (b * all + e) * 2 * own.columns;
            pull_back_entry(
                own, rows_of(row), from, from + own.columns,
                {from_row(dk, row), from_row(dv, row), from_row(dz, row), dbias.data() + b * size});
          }
        });
        Tensor of_bias({own.ratio, own.columns}, 0);
        for (std::size_t i = 0; i < dbias.size(); ++i)
          of_bias.write()[i % std::size_t(size)] += Real(dbias[i]);
        d.push_back(std::move(of_bias));
        return d;
      });
}

}  // namespace weft::layers
