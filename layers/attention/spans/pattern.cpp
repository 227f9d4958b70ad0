#include "layers/attention/spans/pattern.h"

namespace weft::layers {
namespace {

struct Span final : Atom {
  Span(std::vector<Index> l, Index s) : lengths(std::move(l)), shift(s) {}
  void readable(Index query, Index, std::vector<Interval>& out) const override {
    const Index length = lengths[lengths.size() == 1 ? 0 : std::size_t(query)];
    out.push_back({query + shift - length, query + shift});
  }
  Index last_reader(Index key) const override { return key - shift + lengths[0]; }
  std::vector<Index> lengths;
  Index shift;
};

}  // namespace

Pattern span_pattern(std::vector<Index> lengths, Index shift) {
  return {std::make_shared<const Span>(std::move(lengths), shift)};
}

}  // namespace weft::layers
