#include "layers/attention/features/chunk_features.h"

namespace weft::layers {

void raise_to_columns(const core::ConstMatrix& f, Real* highest) {
  for (Index r = 0; r < f.rows; ++r) {
    const Real* row = f.data + r * f.stride;
    for (Index c = 0; c < f.cols; ++c) highest[c] = row[c] > highest[c] ? row[c] : highest[c];
  }
}

namespace {

bool overtops(const Real* row, const Real* reference, Index features) {
  bool found = false;
  for (Index c = 0; c < features; ++c) found |= row[c] > reference[c] + part_slack;
  return found;
}

Index arrays_of(FeatureForm form) {
  switch (form) {
    case FeatureForm::weights:
      return 2;
    case FeatureForm::logarithms:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

ChunkFeatures::ChunkFeatures(const FeatureProblem& problem)
    : problem_(problem),
      features_(problem.map->features()),
      memory_({arrays_of(problem.map->form()), problem.rows(), features_}) {}

void ChunkFeatures::load(const FeatureLane& lane, const Chunk& chunk, ConstHeads query_heads,
                         ConstHeads key_heads, const Real* top, const Real* totals) {
  chunk_ = chunk;
  const FeatureForm form = problem_.map->form();
  Real* at = memory_.write().data();
  const auto take = [&](Index rows) {
    Real* const from = at;
    at += problem_.rows() * features_;
    return core::Matrix{from, rows, features_, features_};
  };
  mapped_q = take(chunk.queries);
  mapped_k = take(chunk.keys);
  if (chunk.queries > 0)
    problem_.map->map_queries(lane.queries(query_heads, chunk.query, chunk.queries), mapped_q);
  if (chunk.keys > 0) problem_.map->map_keys(lane.keys(key_heads, chunk.key, chunk.keys), mapped_k);
  starts_.assign(1, 0);
  if (form == FeatureForm::weights) {
    q = mapped_q;
    k = mapped_k;
    return;
  }
  q = take(chunk.queries);
  k = take(chunk.keys);
  split(top);
  if (form != FeatureForm::shares || chunk.queries == 0) return;
  divisors = take(chunk.queries);
  sum_parts(top, totals);
}

void ChunkFeatures::split(const Real* top) {
  references_.assign(top, top + features_);
  running_.assign(top, top + features_);
  raise_to_columns(mapped_k, running_.data());
  if (!overtops(running_.data(), top, features_)) return;
  running_.assign(top, top + features_);
  for (Index r = 0; r < chunk_.keys; ++r) {
    const Real* row = mapped_k.data + r * features_;
    raise_to_columns({row, 1, features_, features_}, running_.data());
    if (!overtops(row, reference(parts() - 1), features_)) continue;
    if (starts_.back() == r)
      references_.resize(references_.size() - std::size_t(features_));
    else
      starts_.push_back(r);
    references_.insert(references_.end(), running_.begin(), running_.end());
  }
}

/// The totals before each part, in the part's own units.
void ChunkFeatures::sum_parts(const Real* top, const Real* totals) {
  totals_.resize(std::size_t(parts() * features_));
  running_.assign(totals, totals + features_);
  const Real* unit = top;
  for (Index p = 0; p < parts(); ++p) {
    const Real* next = reference(p);
    for (Index c = 0; c < features_; ++c)
      running_[std::size_t(c)] *= std::exp(-std::abs(next[c] - unit[c]));
    std::copy(running_.begin(), running_.end(), totals_.begin() + p * features_);
    unit = next;
    if (p + 1 == parts()) return;
    exponentiate_keys(p);
    for (Index r = 0; r < chunk_.keys; ++r)
      core::simd().add(k.data + r * features_, running_.data(), running_.data(), features_);
  }
}

void ChunkFeatures::enter(Index p) {
  const FeatureForm form = problem_.map->form();
  if (form == FeatureForm::weights) return;
  exponentiate_keys(p);
  if (form == FeatureForm::logarithms)
    exponentiate_queries(p);
  else if (chunk_.queries > 0)
    divide_queries(p);
}

void ChunkFeatures::exponentiate_keys(Index p) {
  const PlaceRange own = part(p);
  for (Index r = 0; r < chunk_.keys; ++r) {
    Real* row = k.data + r * features_;
    if (own.holds(r))
      core::simd().exp_difference(mapped_k.data + r * features_, reference(p), row, features_);
    else
      std::fill_n(row, features_, Real(0));
  }
}

/// q = exp(mapped + reference - the row's largest): the largest divides out again.
void ChunkFeatures::exponentiate_queries(Index p) {
  const PlaceRange own = part(p);
  for (Index r = 0; r < chunk_.queries; ++r) {
    Real* row = q.data + r * features_;
    if (own.holds(r + chunk_.lead)) {
      core::simd().add(mapped_q.data + r * features_, reference(p), row, features_);
      core::simd().exp_sum(row, 1, core::simd().max(row, features_), features_);
    } else {
      std::fill_n(row, features_, Real(0));
    }
  }
}

/// q = mapped / (sum of the keys read so far), by feature.
void ChunkFeatures::divide_queries(Index p) {
  const PlaceRange own = part(p);
  running_.assign(totals_.begin() + p * features_, totals_.begin() + (p + 1) * features_);
  for (Index place = 0; place < chunk_.places(); ++place) {
    const bool held = own.holds(place);
    if (held && place < chunk_.keys)
      core::simd().add(k.data + place * features_, running_.data(), running_.data(), features_);
    const Index r = place - chunk_.lead;
    if (r < 0 || r >= chunk_.queries) continue;
    const Real* share = mapped_q.data + r * features_;
    Real *row = q.data + r * features_, *divisor = divisors.data + r * features_;
    for (Index c = 0; c < features_; ++c) {
      divisor[c] = held ? running_[std::size_t(c)] : 0;
      row[c] = divisor[c] > 0 ? share[c] / divisor[c] : 0;
    }
  }
}

}  // namespace weft::layers
