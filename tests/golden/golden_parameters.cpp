#include "tests/golden/golden_parameters.h"

#include <algorithm>

#include "core/error.h"

namespace weft::golden {
namespace {

using autograd::ParameterArena;

core::Shape shape_by_axes(const core::Shape& shape, const std::vector<Index>& axes) {
  if (axes.empty()) return shape;
  std::vector<Index> extents;
  for (const Index axis : axes) extents.push_back(shape[axis]);
  return core::Shape(std::span<const Index>(extents));
}

/// Whether `joined` is `shape` with some neighbouring axes taken together.
bool is_joined(const core::Shape& shape, const core::Shape& joined) {
  Index axis = 0;
  for (Index i = 0; i < joined.rank(); ++i) {
    Index extent = 1;
    while (axis < shape.rank() && extent * shape[axis] <= joined[i]) extent *= shape[axis++];
    if (extent != joined[i]) return false;
  }
  return axis == shape.rank();
}

/// For each element in the new order of axes, where it stands in the array of the given shape.
std::vector<std::size_t> places(const core::Shape& shape, const std::vector<Index>& axes) {
  const core::Shape ours = shape_by_axes(shape, axes);
  std::vector<Index> steps(std::size_t(shape.rank()), 1);
  for (Index axis = shape.rank() - 2; axis >= 0; --axis)
    steps[std::size_t(axis)] = steps[std::size_t(axis) + 1] * shape[axis + 1];
  std::vector<std::size_t> found;
  for (Index i = 0; i < ours.size(); ++i) {
    Index rest = i, place = 0;
    for (Index axis = ours.rank() - 1; axis >= 0; --axis) {
      place +=
          rest % ours[axis] * steps[std::size_t(axes.empty() ? axis : axes[std::size_t(axis)])];
      rest /= ours[axis];
    }
    found.push_back(std::size_t(place));
  }
  return found;
}

}  // namespace

std::vector<double> by_axes(const std::vector<double>& numbers, const core::Shape& shape,
                            const std::vector<Index>& axes) {
  std::vector<double> ordered;
  for (const std::size_t place : places(shape, axes)) ordered.push_back(numbers[place]);
  return ordered;
}

std::vector<Real> back_by_axes(std::span<const Real> numbers, const core::Shape& shape,
                               const std::vector<Index>& axes) {
  std::vector<Real> ordered(numbers.size());
  const std::vector<std::size_t> all = places(shape, axes);
  for (std::size_t i = 0; i < all.size(); ++i) ordered[all[i]] = numbers[i];
  return ordered;
}

void GoldenParameters::fill(const Case& golden, const autograd::Inventory& inventory) {
  arena_ = std::make_unique<ParameterArena>(inventory, ParameterArena::Use::training);
  for (const ParameterArena::Slot& slot : arena_->slots()) {
    const Placing& placing = placings_.at(slot.name);
    if (placing.array.empty()) continue;
    const std::string path = "in/" + placing.array;
    const core::Shape shape = golden.shape(path);
    core::require(is_joined(shape_by_axes(shape, placing.axes), slot.shape), path, " is ", shape,
                  ", the part's is ", slot.shape);
    std::ranges::copy(by_axes(golden.numbers(path), shape, placing.axes),
                      arena_->value(slot).begin());
  }
}

void GoldenParameters::compare_gradients(Case& golden) const {
  for (const auto& slot : arena_->slots()) {
    const Placing& placing = placings_.at(slot.name);
    if (placing.array.empty()) continue;
    const auto own = arena_->gradients().subspan(std::size_t(slot.offset), std::size_t(slot.size));
    golden.compare("grad/" + placing.array,
                   back_by_axes(own, golden.shape("in/" + placing.array), placing.axes));
  }
}

}  // namespace weft::golden
