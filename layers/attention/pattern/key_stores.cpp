#include "layers/attention/pattern/key_stores.h"

#include <algorithm>

namespace weft::layers {

Index KeyStores::bytes() const {
  Index total = 0;
  for (const KeyStore& store : stores_) total += store.bytes();
  return total;
}

void KeyStores::reach(Index position, const RelativePositions& relative, const DecodeHeads& of) {
  if (!tables_.labels.empty() && tables_.past >= position) return;
  tables_ = relative.terms(Pass(), 2 * position + 64, 0);
  terms_ = relative_terms(tables_, {nullptr, 0}, of.heads, of.width);
}

void KeyStores::step(const StepInput& input, const DecodeHeads& of,
                     const RelativePositions* relative, const SoftEdge* edge, std::span<Real> out) {
  std::span<const Real> q = input.blocks[0], place = q;
  HeadBlock content_block, place_block;
  if (relative) {
    reach(input.position, *relative, of);
    Tensor queries({1, of.heads * of.width});
    std::ranges::copy(q, queries.write().begin());
    content_block = relative->content(Pass(), {Var(queries), 0});
    place_block = relative->place(Pass(), {Var(queries), 0});
    q = content_block.matrix.value().read();
    place = place_block.matrix.value().read();
  }
  const Index heads_each = of.heads / Index(stores_.size());
  const auto each = std::size_t(heads_each * of.width);
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    KeyStore& store = stores_[i];
    store.append(input.position, input.blocks[1].subspan(i * each, each),
                 input.blocks[2].subspan(i * each, each));
    const auto slots = store.readable(input.position);
    for (Index h = 0; h < heads_each; ++h) {
      const Index head = Index(i) * heads_each + h;
      const auto own = [&](auto x) {
        return x.subspan(std::size_t(head * of.width), std::size_t(of.width));
      };
      const Entmax* entmax = of.entmax.empty() ? nullptr : &of.entmax[std::size_t(head)];
      store.attend({input.position, head, own(q), own(place), of.scale,
                    relative ? &terms_ : nullptr, entmax, edge},
                   h * of.width, slots, own(out));
    }
    store.forget(input.position);
  }
}

}  // namespace weft::layers
