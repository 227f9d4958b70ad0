#include "layers/attention/commitment.h"

#include <algorithm>

namespace weft::layers {

/// Calls body(first element of a token's head, its centre), in order.
template <class Body>
void Commitment::for_each(const Committed& part, const Body& body) const {
  const Index heads = centres.shape()[0], clusters = centres.shape()[1], width = centres.shape()[2];
  const ConstHeads x = heads_of(part.block);
  const Index length = part.block.matrix.shape()[0] / sequences.batch;
  for (Index b = 0; b < sequences.batch; ++b) {
    const Index real =
        sequences.key_lengths ? std::min(length, (*sequences.key_lengths)[std::size_t(b)]) : length;
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

double Commitment::loss() const {
  const Index width = centres.shape()[2];
  std::vector<Real> token(static_cast<std::size_t>(width));
  double total = 0;
  for (const Committed& part : parts)
    for_each(part, [&](Index place, const Real* centre) {
      form.apply(heads_of(part.block).data + place, token.data(), width);
      for (Index d = 0; d < width; ++d) {
        const double gap = double(token[std::size_t(d)]) - double(centre[d]);
        total += gap * gap;
      }
    });
  return weight * total / count();
}

/// dx of a token in its form: 2 share weight (x - centre) / count.  Saves: the tokens' matrices.
Var Commitment::add_to(const Var& out, Real share) const {
  std::vector<HeadBlock> blocks;
  for (const Committed& part : parts) blocks.push_back(part.block);
  const Index width = centres.shape()[2];
  const HeadGradients gradients(blocks, centres.shape()[0] * width);
  std::vector<Var> sources{out};
  sources.insert(sources.end(), gradients.sources().begin(), gradients.sources().end());
  return autograd::record(
      "commitment", out.value(), sources, [own = *this, gradients, width, share](Tensor dout) {
        autograd::Gradients d = gradients.allocate();
        for (Tensor& gradient : d) std::ranges::fill(gradient.write(), Real(0));
        const Real factor = Real(2 * double(share) * own.weight / own.count());
        std::vector<Real> token(static_cast<std::size_t>(width));
        for (std::size_t p = 0; p < own.parts.size(); ++p) {
          const ConstHeads x = heads_of(own.parts[p].block);
          const Heads dx = gradients.heads(d, p);
          own.for_each(own.parts[p], [&](Index place, const Real* centre) {
            own.form.apply(x.data + place, token.data(), width);
            for (Index i = 0; i < width; ++i)
              token[std::size_t(i)] = factor * (token[std::size_t(i)] - centre[i]);
            own.form.pull_back(x.data + place, token.data(), dx.data + place, width);
          });
        }
        d.insert(d.begin(), std::move(dout));
        return d;
      });
}

}  // namespace weft::layers
