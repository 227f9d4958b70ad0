#include "layers/attention/clusters/commitment.h"

#include <algorithm>

namespace weft::layers {

/// Calls body(first element of a token's head, its centre), in order.
template <class Body>
void Commitment::for_each(const Committed& part, const Body& body) const {
  const Index heads = centres.shape()[0], clusters = centres.shape()[1], width = centres.shape()[2];
  const ConstHeads x = heads_of(part.block);
  const Index length = part.block.matrix.shape()[0] / sequences.batch;
  for (Index b = 0; b < sequences.batch; ++b) {
    const Index real = sequences.key_lengths ? std::min(length, sequences.real_keys(b)) : length;
    for (Index t = 0; t < real; ++t)
      for (Index h = 0; h < heads; ++h) {
        const Index c = (*part.clusters)[std::size_t((b * heads + h) * length + t)];
        body((b * length + t) * x.stride + h * width, centres.data() + (h * clusters + c) * width);
      }
  }
}

double Commitment::count() const {
  double total = 0;
  for (const Committed& part : parts)
    for_each(part, [&](Index, const Real*) { total += double(centres.shape()[2]); });
  return total;
}

/// dx of a token in its form: 2 weight (x - centre) / count.  Saves: the tokens' matrices.
Var Commitment::loss() const {
  const Index width = centres.shape()[2];
  std::vector<Real> token(static_cast<std::size_t>(width));
  std::vector<HeadBlock> blocks;
  double total = 0;
  for (const Committed& part : parts) {
    blocks.push_back(part.block);
    for_each(part, [&](Index place, const Real* centre) {
      form.apply(heads_of(part.block).data + place, token.data(), width);
      for (Index d = 0; d < width; ++d) {
        const double gap = double(token[std::size_t(d)]) - double(centre[d]);
        total += gap * gap;
      }
    });
  }
  const double numbers = std::max(1.0, count());
  const HeadGradients gradients(blocks, centres.shape()[0] * width);
  return autograd::record(
      "commitment", Tensor({1}, Real(weight * total / numbers)), gradients.sources(),
      [own = *this, gradients, width, numbers](Tensor dy) {
        autograd::Gradients d = gradients.allocate();
        for (Tensor& gradient : d) std::ranges::fill(gradient.write(), Real(0));
        const Real factor = Real(2 * double(core::scalar(dy)) * own.weight / numbers);
        std::vector<Real> gap(static_cast<std::size_t>(width));
        for (std::size_t p = 0; p < own.parts.size(); ++p) {
          const ConstHeads x = heads_of(own.parts[p].block);
          const Heads dx = gradients.heads(d, p);
          own.for_each(own.parts[p], [&](Index place, const Real* centre) {
            own.form.apply(x.data + place, gap.data(), width);
            for (Index i = 0; i < width; ++i)
              gap[std::size_t(i)] = factor * (gap[std::size_t(i)] - centre[i]);
            own.form.pull_back(x.data + place, gap.data(), dx.data + place, width);
          });
        }
        return d;
      });
}

}  // namespace weft::layers
