#include "layers/attention/clusters/centroid_rule.h"

#include <algorithm>
#include <cmath>

namespace weft::layers {
namespace {

/// One cluster's row of the state.
struct Row {
  Real* centre;
  Index width;
  Real& members() const { return centre[width]; }
  Real& idle() const { return centre[width + 1]; }
};

double length_of(const std::vector<double>& x) {
  double squares = 0;
  for (const double v : x) squares += v * v;
  return std::sqrt(squares);
}

/// Writes x at the given length.
void put_at_length(const std::vector<double>& x, double length, Real* to) {
  const double own = length_of(x);
  for (std::size_t d = 0; d < x.size(); ++d) to[d] = Real(own > 0 ? x[d] * length / own : x[d]);
}

/// decay centre + (1 - decay) target, in double since one step moves little. The target is the
/// members' mean and the result keeps the length of standard vectors; for unit vectors it is the
/// members' direction; or it is their sum.
void move_centre(const CentroidSettings& settings, const Row& row, const Real* sum, Real count) {
  const bool unit = settings.form.law == HeadForm::Law::unit;
  std::vector<double> next(sum, sum + settings.width);
  const double length = length_of(next);
  const double factor = settings.sums        ? (settings.separate_keys ? 0.5 : 1)
                        : unit && length > 0 ? 1 / length
                                             : 1 / double(count);
  for (std::size_t d = 0; d < next.size(); ++d)
    next[d] = settings.decay * double(row.centre[d]) + (1 - settings.decay) * factor * next[d];
  put_at_length(next, settings.sums || unit ? length_of(next) : double(settings.length()),
                row.centre);
}

/// Puts an idle cluster's centre next to that of the head's largest cluster, so that the two share
/// its tokens. The direction follows from the place and the sizes: a resumed run takes the same.
void split_largest(const CentroidSettings& settings, Index head, Index cluster, Real* rows) {
  const Index width = settings.width, stride = width + 2;
  Index largest = 0;
  for (Index c = 1; c < settings.clusters; ++c)
    if (rows[c * stride + width] > rows[largest * stride + width]) largest = c;
  const Row from{rows + largest * stride, width}, to{rows + cluster * stride, width};
  const core::Rng rng = core::Rng(0)
                            .fold("reseed")
                            .fold(std::uint64_t(head))
                            .fold(std::uint64_t(cluster))
                            .fold(std::uint64_t(from.members()));
  std::vector<double> centre(from.centre, from.centre + width);
  const double length = length_of(centre), deviation = 0.1 * length / std::sqrt(double(width));
  for (std::size_t d = 0; d < centre.size(); ++d) centre[d] += deviation * rng.normal(d);
  put_at_length(centre, length, to.centre);
  to.idle() = 0;
}

}  // namespace

Real CentroidSettings::length() const {
  return form.law == HeadForm::Law::unit ? Real(1) : Real(std::sqrt(double(width)));
}

void move_centroids(const CentroidSettings& settings, std::span<Real> value,
                    std::span<const Real> statistics) {
  const Index width = settings.width, clusters = settings.clusters;
  for (Index h = 0; h < settings.heads; ++h) {
    Real* rows = value.data() + h * clusters * (width + 2);
    const Real* sums = statistics.data() + h * clusters * (2 * width + 1);
    for (Index c = 0; c < clusters; ++c) {
      const Row row{rows + c * (width + 2), width};
      const Real *sum = sums + c * (2 * width + 1), count = sum[width];
      if (row.idle() < 0) {
        std::copy_n(sum + width + 1, width, row.centre);
        row.idle() = 0;
      }
      row.members() = count;
      row.idle() = count > 0 ? 0 : row.idle() + 1;
      if (count > 0) move_centre(settings, row, sum, count);
    }
    for (Index c = 0; c < clusters; ++c)
      if (settings.reseed_after > 0 &&
          rows[c * (width + 2) + width + 1] >= Real(settings.reseed_after))
        split_largest(settings, h, c, rows);
  }
}

}  // namespace weft::layers
