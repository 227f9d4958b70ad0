#include "layers/attention/fittings/short_convolution.h"

#include <cmath>

#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// One call: the blocks, their places among the columns, and the weights by tap.
struct ConvolutionCall {
  const ShortConvolution& convolution;
  std::vector<HeadBlock> blocks;
  Index length;
  Tensor past;  ///< [B, taps - 1, columns], or empty for zeros
  std::vector<Real> weights;

  Index taps() const { return convolution.taps_; }
  Index columns() const { return convolution.columns_; }
  const Real* tap(Index a) const { return weights.data() + a * columns(); }

  /// body(row of x, tap) for the tokens under the convolution at a row.
  template <class Body>
  void for_each_tap(Index row, const Body& body) const {
    const Index start = row / length * length;
    for (Index a = 0; a < taps(); ++a)
      if (const Index from = row - taps() + 1 + a; from >= start) body(from, a);
  }
  /// body(a row of all columns, tap) for those before the sequence's start.
  template <class Body>
  void for_each_past_tap(Index row, const Body& body) const {
    if (past.size() == 0) return;
    const Index place = row % length, kept = taps() - 1;
    for (Index a = 0; a < kept - place; ++a)
      body(past.data() + (row / length * kept + place + a) * columns(), a);
  }
  /// body(block, its first column among all, how many)
  template <class Body>
  void for_each_block(const Body& body) const {
    Index first = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      body(i, first, convolution.parts_[i].columns);
      first += convolution.parts_[i].columns;
    }
  }

  /// b + sum_a w_a x, before silu.
  void sum(Index row, Real* z) const {
    std::copy_n(tap(taps()), columns(), z);
    for_each_past_tap(
        row, [&](const Real* x, Index a) { core::simd().multiply_add(tap(a), x, z, columns()); });
    for_each_tap(row, [&](Index from, Index a) {
      for_each_block([&](std::size_t i, Index first, Index count) {
        const ConstHeads x = heads_of(blocks[i]);
        core::simd().multiply_add(tap(a) + first, x.data + from * x.stride, z + first, count);
      });
    });
  }

  /// Rows [begin, end) of dx, and their share of the gradients of weights and biases. The tokens up
  /// to taps - 1 tokens after them send gradients to them, too.
  void pull_back(Index begin, Index end, const Tensor& dy, const std::vector<Heads>& dx,
                 Real* sums) const {
    const Index n = columns(), rows = dy.shape()[0];
    std::vector<Real> scratch(std::size_t(2 * n));
    Real *p = scratch.data(), *share = p + n;
    for (Index r = begin; r < end; ++r)
      for_each_block([&](std::size_t i, Index, Index count) {
        std::fill_n(dx[i].data + r * dx[i].stride, count, Real(0));
      });
    for (Index r = begin; r < std::min(end + taps() - 1, rows); ++r) {
      sum(r, p);
      core::simd().logistic(p, share, n);
      for (Index c = 0; c < n; ++c)
        p[c] = dy.data()[r * n + c] * share[c] * (1 + p[c] * (1 - share[c]));
      for_each_tap(r, [&](Index from, Index a) {
        for_each_block([&](std::size_t i, Index first, Index count) {
          const ConstHeads x = heads_of(blocks[i]);
          if (from >= begin && from < end)
            core::simd().multiply_add(tap(a) + first, p + first, dx[i].data + from * dx[i].stride,
                                      count);
          if (r < end)
            core::simd().multiply_add(p + first, x.data + from * x.stride, sums + a * n + first,
                                      count);
        });
      });
      if (r >= end) continue;
      for_each_past_tap(
          r, [&](const Real* x, Index a) { core::simd().multiply_add(p, x, sums + a * n, n); });
      core::simd().add(p, sums + taps() * n, sums + taps() * n, n);
    }
  }

  /// Adds sums, as rows of taps, to the parameters' gradients.
  void deliver(const std::vector<Real>& sums) const {
    const Index n = columns();
    for_each_block([&](std::size_t i, Index first, Index count) {
      const std::span<Real> weight = convolution.weights_[i].gradient();
      for (Index c = 0; c < count && !weight.empty(); ++c)
        for (Index a = 0; a < taps(); ++a)
          weight[std::size_t(c * taps() + a)] += sums[std::size_t(a * n + first + c)];
      if (!convolution.bias_) return;
      const std::span<Real> bias = convolution.biases_[i].gradient();
      for (Index c = 0; c < count && !bias.empty(); ++c)
        bias[std::size_t(c)] += sums[std::size_t(taps() * n + first + c)];
    });
  }
};

ShortConvolution::ShortConvolution(const std::vector<Part>& parts, Index taps, bool bias)
    : parts_(parts), taps_(taps), bias_(bias) {
  core::require(taps >= 1, "short convolution: ", taps, " taps");
  for (const Part& part : parts) {
    columns_ += part.columns;
    const auto init = autograd::Init::uniform(1 / std::sqrt(double(taps)));
    weights_.emplace_back(core::Shape{part.columns, taps}, init);
    if (bias) biases_.emplace_back(core::Shape{part.columns}, init);
  }
}

std::vector<Real> ShortConvolution::rows_of_taps() const {
  std::vector<Real> rows(std::size_t((taps_ + 1) * columns_), Real(0));
  Index first = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    for (Index c = 0; c < parts_[i].columns; ++c) {
      for (Index a = 0; a < taps_; ++a)
        rows[std::size_t(a * columns_ + first + c)] = weights_[i].data()[c * taps_ + a];
      if (bias_) rows[std::size_t(taps_ * columns_ + first + c)] = biases_[i].data()[c];
    }
    first += parts_[i].columns;
  }
  return rows;
}

/// With p = dy silu' at each token, dx_t = sum_a w_a p_(t + taps - 1 - a),
/// dw_a = sum_t p_t x_(t - taps + 1 + a), db = sum_t p_t.  Saves: x.
std::vector<HeadBlock> ShortConvolution::forward(const std::vector<HeadBlock>& blocks, Index length,
                                                 const Tensor& past) const {
  core::require(blocks.size() == parts_.size(), "short convolution: ", blocks.size(),
                " blocks for ", parts_.size(), " parts");
  const ConvolutionCall call{*this, blocks, length, past, rows_of_taps()};
  const Index rows = blocks[0].matrix.shape()[0], n = columns_;
  Tensor y({rows, n});
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
    std::vector<Real> share(static_cast<std::size_t>(n));
    for (Index r = begin; r < end; ++r) {
      call.sum(r, to + r * n);
      core::simd().logistic(to + r * n, share.data(), n);
      core::simd().multiply(share.data(), to + r * n, to + r * n, n);
    }
  });
  std::vector<Index> widths;
  for (const Part& part : parts_) widths.push_back(part.columns);
  const HeadGradients gradients(blocks, widths);
  const Var packed = autograd::record(
      "short_convolution", std::move(y), gradients.sources(), [call, gradients, n](Tensor dy) {
        autograd::Gradients all = gradients.allocate();
        std::vector<Heads> dx;
        for (std::size_t i = 0; i < call.blocks.size(); ++i) dx.push_back(gradients.heads(all, i));
        std::vector<Real> sums(call.weights.size(), Real(0));
        autograd::sum_over_rows(
            dy.shape()[0], Index(sums.size()), sums,
            [&](Index begin, Index end, Real* own) { call.pull_back(begin, end, dy, dx, own); });
        call.deliver(sums);
        return all;
      });
  std::vector<HeadBlock> out;
  call.for_each_block([&](std::size_t, Index first, Index) { out.push_back({packed, first}); });
  return out;
}

Tensor ShortConvolution::last_rows(const std::vector<HeadBlock>& blocks, Index length,
                                   const Tensor& past) const {
  const Index batch = blocks[0].matrix.shape()[0] / length, kept = taps_ - 1;
  const ConvolutionCall call{*this, blocks, length, past, {}};
  Tensor last({batch, past_size()}, 0);
  Real* to = last.write().data();
  for (Index b = 0; b < batch; ++b)
    for (Index i = 0; i < kept; ++i, to += columns_) {
      const Index place = length - kept + i;
      if (place < 0 && past.size() > 0)
        std::copy_n(past.data() + (b * kept + kept + place) * columns_, columns_, to);
      if (place < 0) continue;
      call.for_each_block([&](std::size_t block, Index first, Index count) {
        const ConstHeads x = heads_of(blocks[block]);
        std::copy_n(x.data + (b * length + place) * x.stride, count, to + first);
      });
    }
  return last;
}

void ShortConvolution::step(const std::vector<std::span<const Real>>& blocks, std::span<Real> past,
                            std::span<Real> y) const {
  const std::vector<Real> weights = rows_of_taps();
  std::vector<Real> now;
  for (const std::span<const Real>& block : blocks)
    now.insert(now.end(), block.begin(), block.end());
  const auto row = std::size_t(columns_);
  std::copy_n(weights.end() - columns_, row, y.begin());
  for (Index a = 0; a < taps_; ++a)
    core::simd().multiply_add(weights.data() + a * columns_,
                              a + 1 < taps_ ? past.data() + a * columns_ : now.data(), y.data(),
                              columns_);
  std::vector<Real> share(row);
  core::simd().logistic(y.data(), share.data(), columns_);
  core::simd().multiply(share.data(), y.data(), y.data(), columns_);
  if (taps_ < 2) return;
  std::copy(past.begin() + columns_, past.end(), past.begin());
  std::ranges::copy(now, past.end() - columns_);
}

void list_conv(core::Fields& field, Index& taps) {
  field.integer(
      "conv", taps,
      "width of the causal convolution of queries, keys and values, in tokens; 0: no convolution",
      core::between(0, 64));
}

void ShortConvolution::visit(autograd::Inventory& inventory) {
  for (std::size_t i = 0; i < weights_.size(); ++i) inventory.add(parts_[i].name, weights_[i]);
  for (std::size_t i = 0; i < biases_.size(); ++i)
    inventory.add(parts_[i].name + "_bias", biases_[i]);
}

}  // namespace weft::layers
