#include "layers/attention/pattern/decoding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// What one query reads among the keys up to its own position, ready for many look-ups.
class Reader {
 public:
  Reader(const Pattern& pattern, Index query) : query_(query) {
    for (const auto& atom : pattern) {
      Rule rule{atom->modulus(), {}};
      const Index places = query / rule.modulus + 1;
      atom->readable(query, places, rule.intervals);
      normalise(rule.intervals, places);
      if (!rule.intervals.empty()) rules_.push_back(std::move(rule));
    }
  }

  bool reads(Index key) const {
    return std::ranges::any_of(rules_, [&](const Rule& rule) {
      if ((query_ - key) % rule.modulus != 0) return false;
      const Index place = key / rule.modulus;
      const auto after = std::ranges::upper_bound(rule.intervals, place, {}, &Interval::begin);
      return after != rule.intervals.begin() && place < after[-1].end;
    });
  }

 private:
  struct Rule {
    Index modulus;
    std::vector<Interval> intervals;
  };
  Index query_;
  std::vector<Rule> rules_;
};

}  // namespace

void KeyStore::append(Index position, std::span<const Real> key, std::span<const Real> value) {
  if (free_.empty()) {
    free_.push_back(slots());
    positions_.push_back(-1);
    keys_.resize(keys_.size() + std::size_t(width_));
    values_.resize(values_.size() + std::size_t(width_));
  }
  const Index slot = free_.back();
  free_.pop_back();
  positions_[std::size_t(slot)] = position;
  std::ranges::copy(key, keys_.begin() + slot * width_);
  std::ranges::copy(value, values_.begin() + slot * width_);
  Index last = -1;
  for (const auto& atom : pattern_) last = std::max(last, atom->last_reader(position));
  if (last < never) leaving_.push({last, slot});
}

std::vector<Index> KeyStore::readable(const Pattern& pattern, Index query) const {
  const Reader reader(pattern, query);
  std::vector<Index> read;
  for (Index slot = 0; slot < slots(); ++slot) {
    const Index position = positions_[std::size_t(slot)];
    if (position >= 0 && reader.reads(position)) read.push_back(slot);
  }
  return read;
}

void KeyStore::attend(const DecodeQuery& query, Index column, std::span<const Index> slots,
                      std::span<Real> out) const {
  std::ranges::fill(out, Real(0));
  if (slots.empty()) return;
  const Index width = Index(query.q.size());
  const RelativeTerms* relative = query.relative;
  const auto row = [&](const RelativeTable& table, Index label) {
    return table.data + label * table.stride + query.head * table.head_step;
  };
  std::vector<Real> weights;
  std::vector<std::int32_t> labels(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Real* key = keys_.data() + slots[i] * width_ + column;
    Real score = query.scale * core::simd().dot(query.q.data(), key, width);
    if (query.decay)
      score += Real(query.decay[query.position * query.decay_step] -
                    query.decay[positions_[std::size_t(slots[i])] * query.decay_step]);
    if (relative) {
      const std::int32_t label = labels[i] =
          relative->label(positions_[std::size_t(slots[i])] - query.position);
      if (relative->keys.data)
        score +=
            query.scale * core::simd().dot(query.place.data(), row(relative->keys, label), width);
      if (relative->bias) score += relative->bias[query.head * relative->labels + label];
    }
    weights.push_back(score);
  }
  normalise(query, slots, weights);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Real weight = weights[i];
    if (weight == 0) continue;
    core::simd().axpy(weight, values_.data() + slots[i] * width_ + column, out.data(), width);
    if (relative && relative->values.data)
      core::simd().axpy(weight, row(relative->values, labels[i]), out.data(), width);
  }
}

void KeyStore::normalise(const DecodeQuery& query, std::span<const Index> slots,
                         std::vector<Real>& row) const {
  const Index count = Index(row.size());
  if (query.entmax) {
    std::vector<double> candidates;
    const Real threshold = query.entmax->threshold(row.data(), count, candidates);
    query.entmax->weigh(row.data(), count, threshold);
    return;
  }
  if (query.edge) return normalise_softly(query, slots, row);
  const Real highest = core::simd().max(row.data(), count);
  const Real top = query.sink ? std::max(highest, *query.sink) : highest;
  Real total = core::simd().exp_sum(row.data(), 1, top, count);
  if (query.sink) total += std::exp(*query.sink - top);
  for (Real& weight : row) weight /= total;
}

void KeyStore::normalise_softly(const DecodeQuery& query, std::span<const Index> slots,
                                std::vector<Real>& row) const {
  const SoftRow edge(*query.edge, 0, query.head, query.position - 1);
  std::vector<Real> shares;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    shares.push_back(edge.share(positions_[std::size_t(slots[i])]));
    if (shares[i] + query.edge->eps == 0) row[i] = -std::numeric_limits<Real>::infinity();
  }
  const Index count = Index(row.size());
  Real top = core::simd().max(row.data(), count);
  if (query.sink) top = std::max(top, *query.sink);
  if (top == -std::numeric_limits<Real>::infinity()) {
    std::ranges::fill(row, Real(0));
    return;
  }
  Real total = query.edge->eps * core::simd().exp_sum(row.data(), 1, top, count);
  for (std::size_t i = 0; i < row.size(); ++i) total += row[i] *= shares[i];
  if (query.sink) total += std::exp(*query.sink - top);
  for (Real& weight : row) weight /= total;
}

void KeyStore::forget(Index query) {
  while (!leaving_.empty() && leaving_.top().last_reader <= query) {
    const Index slot = leaving_.top().slot;
    leaving_.pop();
    positions_[std::size_t(slot)] = -1;
    free_.push_back(slot);
  }
}

KeyStores::KeyStores(std::vector<Pattern> patterns, const DecodeHeads& of)
    : patterns_(std::move(patterns)) {
  if (patterns_.size() == 1) {
    stores_.emplace_back(patterns_[0], of.key_heads() * of.width);
    return;
  }
  const Index sharing = of.heads / of.key_heads();
  for (Index first = 0; first < of.heads; first += sharing) {
    Pattern any;
    for (Index head = first; head < first + sharing; ++head)
      any = united(std::move(any), patterns_[std::size_t(head)]);
    stores_.emplace_back(std::move(any), of.width);
  }
}

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
  const Index sharing = of.heads / of.key_heads();
  const Index heads_each = of.heads / Index(stores_.size());
  const auto each = std::size_t(heads_each / sharing * of.width);
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    KeyStore& store = stores_[i];
    store.append(input.position, input.blocks[1].subspan(i * each, each),
                 input.blocks[2].subspan(i * each, each));
    std::vector<Index> slots;
    for (Index h = 0; h < heads_each; ++h) {
      const Index head = Index(i) * heads_each + h;
      if (patterns_.size() > 1)
        slots = store.readable(patterns_[std::size_t(head)], input.position);
      else if (h == 0)
        slots = store.readable(patterns_[0], input.position);
      const auto own = [&](auto x) {
        return x.subspan(std::size_t(head * of.width), std::size_t(of.width));
      };
      const Entmax* entmax = of.entmax.empty() ? nullptr : &of.entmax[std::size_t(head)];
      store.attend(
          {input.position, head, own(q), own(place), of.scale, relative ? &terms_ : nullptr, entmax,
           edge, of.sinks.size() > 0 ? of.sinks.data() + head : nullptr,
           of.decay.empty() ? nullptr : of.decay.data() + head, of.heads},
          h / sharing * of.width, slots, own(out));
    }
    store.forget(input.position);
  }
}

}  // namespace weft::layers
