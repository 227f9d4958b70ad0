#include "data/images/value_tables.h"

#include <algorithm>
#include <cmath>

namespace weft::data {
namespace {

constexpr Index coarse_levels = 32;

/// Counts of each value in each context.
class Table {
 public:
  Table(Index contexts, Index levels)
      : levels_(levels), counts_(std::size_t(contexts * levels), 1), sums_(std::size_t(contexts)) {
    std::ranges::fill(sums_, std::uint32_t(levels));
  }

  void count(Index context, Index value) {
    ++counts_[std::size_t(context * levels_ + value)];
    ++sums_[std::size_t(context)];
  }
  double bits(Index context, Index value) const {
    return std::log2(double(sums_[std::size_t(context)])) -
           std::log2(double(counts_[std::size_t(context * levels_ + value)]));
  }

 private:
  Index levels_;
  std::vector<std::uint32_t> counts_, sums_;
};

/// The values to the left, above and in the channel before place i, as one number.
Index neighbours(std::span<const std::uint8_t> image, Index i, const core::ImageForm& form) {
  const Index column = i / form.channels % form.columns, channel = i % form.channels;
  const Index coarse = std::min(coarse_levels, form.levels);
  const auto at = [&](Index back, bool inside) {
    return inside ? Index(image[std::size_t(i - back)]) * coarse / form.levels : 0;
  };
  const Index left = at(form.channels, column > 0), up = at(form.row(), i >= form.row());
  return form.channels == 1 ? left * coarse + up
                            : (left * coarse + up) * coarse + at(1, channel > 0);
}

/// Mean bits of a split by a table that training fills. context(image, i) is below `contexts`.
template <class Context>
double mean_bits(const ImageSplits& images, Split split, Index contexts, Context context) {
  Table table(contexts, images.form().levels);
  const auto for_each = [&](Split part, auto visit) {
    for (Index n = 0; n < images.count(part); ++n) {
      const auto image = images.image(part, n);
      for (Index i = 0; i < Index(image.size()); ++i)
        visit(context(image, i), Index(image[std::size_t(i)]));
    }
  };
  for_each(Split::training, [&](Index c, Index value) { table.count(c, value); });
  double total = 0;
  for_each(split, [&](Index c, Index value) { total += table.bits(c, value); });
  return total / double(images.scored(split) * images.form().values());
}

}  // namespace

std::vector<BitsBaseline> table_baselines(const ImageSplits& images, Split split) {
  const core::ImageForm& form = images.form();
  using Image = std::span<const std::uint8_t>;
  const Index coarse = std::min(coarse_levels, form.levels);
  return {
      {"values", mean_bits(images, split, 1, [](Image, Index) { return Index(0); })},
      {"each place", mean_bits(images, split, form.values(), [](Image, Index i) { return i; })},
      {"left and up", mean_bits(images, split, coarse * coarse * (form.channels == 1 ? 1 : coarse),
                                [&](Image image, Index i) { return neighbours(image, i, form); })}};
}

}  // namespace weft::data
