#include "layers/attention/features/decoding.h"

namespace weft::layers {

FeatureDecodeState::FeatureDecodeState(const FeatureProblem& problem)
    : features_(problem.map->features()),
      width_(problem.head_width),
      memory_(std::size_t(2 * problem.heads * CarriedSums::size(features_, width_))),
      row_(std::size_t(features_)),
      reference_(std::size_t(features_)) {
  for (Index i = 0; i < 2 * problem.heads; ++i) sums(i).clear();
}

void FeatureDecodeState::step(const FeatureProblem& problem, std::span<const Real> q,
                              std::span<const Real> k, std::span<const Real> v,
                              std::span<Real> out) {
  for (Index h = 0; h < problem.heads; ++h) {
    absorb(problem, h, k.data() + h * width_, v.data() + h * width_);
    attend(problem, h, q.data() + h * width_, out.data() + h * width_);
  }
  if (++recent_tokens_ < problem.chunk) return;
  recent_tokens_ = 0;
  for (Index h = 0; h < problem.heads; ++h) {
    all(h).add(recent(h));
    recent(h).clear();
  }
}

void FeatureDecodeState::absorb(const FeatureProblem& problem, Index head, const Real* k,
                                const Real* v) {
  CarriedSums past = all(head), near = recent(head);
  problem.map->map_keys({k, 1, width_, width_}, {row_.data(), 1, features_, features_});
  if (problem.map->form() != FeatureForm::weights) {
    for (std::size_t c = 0; c < row_.size(); ++c)
      reference_[c] = std::max(past.reference()[c], row_[c]);
    past.refer(reference_.data());
    near.refer(reference_.data());
    core::simd().exp_difference(row_.data(), reference_.data(), row_.data(), features_);
  }
  for (Index c = 0; c < features_; ++c)
    core::simd().axpy(row_[std::size_t(c)], v, near.sums().data + c * width_, width_);
  core::simd().add(row_.data(), near.totals(), near.totals(), features_);
}

void FeatureDecodeState::attend(const FeatureProblem& problem, Index head, const Real* q,
                                Real* out) {
  const CarriedSums past = all(head), near = recent(head);
  problem.map->map_queries({q, 1, width_, width_}, {row_.data(), 1, features_, features_});
  if (problem.map->form() == FeatureForm::logarithms) {
    core::simd().add(row_.data(), past.reference(), row_.data(), features_);
    core::simd().exp_sum(row_.data(), 1, core::simd().max(row_.data(), features_), features_);
  }
  Real total = problem.eps;
  std::fill_n(out, width_, Real(0));
  for (Index c = 0; c < features_; ++c) {
    const Real read = past.totals()[c] + near.totals()[c];
    Real weight = row_[std::size_t(c)];
    if (problem.map->form() == FeatureForm::shares) weight = read > 0 ? weight / read : 0;
    total += weight * read;
    core::simd().axpy(weight, past.sums().data + c * width_, out, width_);
    core::simd().axpy(weight, near.sums().data + c * width_, out, width_);
  }
  if (problem.map->form() != FeatureForm::shares && total != 0)
    core::simd().scale(1 / total, out, width_);
}

}  // namespace weft::layers
