#include "layers/attention/pattern/key_store.h"

#include <algorithm>

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
}

void KeyStore::attend(Index query, Index column, std::span<const Real> q, Real scale,
                      std::span<Real> out) const {
  const Reader reader(pattern_, query);
  const Index width = Index(q.size());
  std::vector<Index> read;
  std::vector<Real> weights;
  for (Index slot = 0; slot < slots(); ++slot) {
    const Index position = positions_[std::size_t(slot)];
    if (position < 0 || !reader.reads(position)) continue;
    read.push_back(slot);
    weights.push_back(core::simd().dot(q.data(), keys_.data() + slot * width_ + column, width));
  }
  std::ranges::fill(out, Real(0));
  if (read.empty()) return;
  const Index count = Index(read.size());
  const Real top = core::simd().max(weights.data(), count);
  const Real total = core::simd().exp_sum(weights.data(), scale, scale * top, count);
  for (std::size_t i = 0; i < read.size(); ++i)
    core::simd().axpy(weights[i] / total, values_.data() + read[i] * width_ + column, out.data(),
                      width);
}

void KeyStore::forget(Index query) {
  for (Index slot = 0; slot < slots(); ++slot) {
    Index& position = positions_[std::size_t(slot)];
    if (position < 0) continue;
    Index last = -1;
    for (const auto& atom : pattern_) last = std::max(last, atom->last_reader(position));
    if (last > query) continue;
    position = -1;
    free_.push_back(slot);
  }
}

}  // namespace weft::layers
