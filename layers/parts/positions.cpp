#include "layers/parts/positions.h"

#include <cmath>

#include "core/error.h"

namespace weft::layers {
namespace {

/// Columns 2i and 2i + 1 hold sin and cos of position / 10000^(2i / W).
Tensor sinusoids(Index length, Index width) {
  Tensor table({length, width});
  std::span<Real> out = table.write();
  for (Index p = 0; p < length; ++p)
    for (Index c = 0; c < width; ++c) {
      const double angle = double(p) / std::pow(10000.0, double(c / 2 * 2) / double(width));
      out[std::size_t(p * width + c)] = Real(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return table;
}

}  // namespace

Positions::Positions(PositionKind kind, Index width, Index head_width, Index length,
                     const AxialGrid& grid, const std::optional<core::ImageForm>& image) {
  if (kind == PositionKind::learned) table_.emplace(core::Shape{length, width}, Init::normal(0.02));
  if (kind == PositionKind::axial) {
    core::require(grid.d1 + grid.d2 == width, "axial positions of widths ", grid.d1, " and ",
                  grid.d2, " do not add up to ", width);
    rows_.emplace(core::Shape{grid.n1, grid.d1}, Init::normal(0.02));
    columns_.emplace(core::Shape{grid.n2, grid.d2}, Init::normal(0.02));
  }
  if (kind == PositionKind::image) {
    core::require(image && image->values() <= length,
                  "model.positions: image positions need images as data");
    rows_.emplace(core::Shape{image->rows, width}, Init::normal(0.02));
    columns_.emplace(core::Shape{image->columns, width}, Init::normal(0.02));
    channels_.emplace(core::Shape{image->channels, width}, Init::normal(0.02));
    before_ = length - image->values();
  }
  if (kind == PositionKind::sinusoidal) sinusoids_ = sinusoids(length, width);
  if (kind == PositionKind::rotary) rotary_ = std::make_shared<const Rotary>(head_width, length);
}

Var Positions::add_image(Var x, Index length, Index first) const {
  core::require(first + length <= *longest(), "image positions reach to ", *longest(),
                " tokens, asked for ", first + length, ": an image has no more values");
  const Index channels = channels_->shape()[0], columns = columns_->shape()[0];
  std::vector<core::Token> row, column, channel;
  for (Index r = 0; r < x.shape()[0]; ++r) {
    const Index place = first + r % length - before_;
    row.push_back(core::Token(place < 0 ? core::no_target : place / channels / columns));
    column.push_back(core::Token(place < 0 ? core::no_target : place / channels % columns));
    channel.push_back(core::Token(place < 0 ? core::no_target : place % channels));
  }
  const core::Shape shape{x.shape()[0]};
  x = autograd::add_rows(x, *rows_, {shape, std::move(row)});
  x = autograd::add_rows(x, *columns_, {shape, std::move(column)});
  return autograd::add_rows(x, *channels_, {shape, std::move(channel)});
}

Var Positions::add(const Var& x, Index length, Index first) const {
  if (channels_) return add_image(x, length, first);
  if (rows_) {
    core::require(first + length <= *longest(), "axial positions reach to ", *longest(),
                  " tokens, asked for ", first + length, "; train with a larger model.axial_shape");
    return autograd::add_axial_positions(x, *rows_, *columns_, length, first);
  }
  if (table_) {
    core::require(first + length <= table_->shape()[0], "learned positions reach to ",
                  table_->shape()[0], " tokens, asked for ", first + length,
                  "; train with a larger data.length, or with sinusoidal or rotary positions");
    return autograd::add_positions(x, *table_, length, first);
  }
  if (sinusoids_.size() == 0) return x;
  if (first + length > sinusoids_.shape()[0])
    sinusoids_ = sinusoids(2 * (first + length), x.shape().back());
  return autograd::add_positions(x, sinusoids_, length, first);
}

std::optional<Index> Positions::longest() const {
  if (channels_) return before_ + rows_->shape()[0] * columns_->shape()[0] * channels_->shape()[0];
  if (rows_) return rows_->shape()[0] * columns_->shape()[0];
  return table_ ? std::optional(table_->shape()[0]) : std::nullopt;
}

void Positions::visit(Inventory& inventory) {
  if (table_) inventory.add("weight", *table_);
  if (rows_) inventory.add("rows", *rows_);
  if (columns_) inventory.add("columns", *columns_);
  if (channels_) inventory.add("channels", *channels_);
}

}  // namespace weft::layers
