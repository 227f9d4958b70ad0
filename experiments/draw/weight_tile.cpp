#include "experiments/draw/weight_tile.h"

#include <algorithm>
#include <cmath>

#include "core/files/base64.h"
#include "data/images/png_file.h"
#include "experiments/console/number_text.h"
#include "experiments/draw/markup.h"

namespace weft::experiments {
namespace {

constexpr Index most_cells = 256;
constexpr double side = 200, strip = 5, gap = 2, title_height = 20;

/// Weights in at most 256 x 256 cells, each the one of the largest size below it.
struct Cells {
  Index rows, columns;
  std::vector<float> values;
  float most = 0;

  Cells(const WeightTile& tile, Index finest)
      : rows(std::min(tile.queries, finest)),
        columns(std::min(tile.keys, finest)),
        values(std::size_t(rows * columns), 0.0f) {
    for (Index i = 0; i < tile.queries; ++i)
      for (Index j = 0; j < tile.keys; ++j) {
        const float weight = tile.weights[std::size_t(i * tile.keys + j)];
        if (!std::isfinite(weight)) continue;
        float& cell =
            values[std::size_t(i * rows / tile.queries * columns + j * columns / tile.keys)];
        if (std::abs(weight) > std::abs(cell)) cell = weight;
        most = std::max(most, std::abs(weight));
      }
  }

  bool reads(std::size_t i) const { return std::abs(values[i]) > 1e-6f * most; }
  /// 0 for what is not read, else between 0.1 and 1: the root makes small weights visible.
  double shade(std::size_t i) const {
    return reads(i) ? 0.1 + 0.9 * std::sqrt(double(std::abs(values[i]) / most)) : 0;
  }
};

/// A picture that is white where weights of a sign are strongest.
std::string mask_image(const Cells& cells, bool negative) {
  data::Picture picture{cells.rows, cells.columns, 1, {}};
  bool any = false;
  for (std::size_t i = 0; i < cells.values.size(); ++i) {
    const bool own = cells.reads(i) && (cells.values[i] < 0) == negative;
    picture.pixels.push_back(own ? std::uint8_t(std::lround(255 * cells.shade(i))) : 0);
    any |= own;
  }
  return any ? "data:image/png;base64," + core::base64(data::encode_png(picture)) : "";
}

std::string hundredths(double x) { return format_fixed(x, 2); }

std::string rectangle(double x, double y, double width, double height,
                      const std::string& attributes) {
  return "<rect x=\"" + hundredths(x) + "\" y=\"" + hundredths(y) + "\" width=\"" +
         hundredths(width) + "\" height=\"" + hundredths(height) + "\"" + attributes + "/>";
}

/// The weights of one sign: a rectangle of one colour seen through the picture.
std::string layer(Medium medium, const std::string& id, const std::string& image, double x,
                  double y, std::size_t colour) {
  if (image.empty()) return "";
  const std::string place = " x=\"" + hundredths(x) + "\" y=\"" + hundredths(y) + "\" width=\"" +
                            hundredths(side) + "\" height=\"" + hundredths(side) + "\"";
  return "<mask id=\"" + id + "\" maskUnits=\"userSpaceOnUse\"" + place + "><image" + place +
         " preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" "
         "style=\"image-rendering:pixelated\" href=\"" +
         image + "\" xlink:href=\"" + image + "\"/></mask><g class=\"c" + std::to_string(colour) +
         "\">" +
         rectangle(x, y, side, side, " mask=\"url(#" + id + ")\"" + paint(medium, "tile", colour)) +
         "</g>";
}

/// Runs of tokens of one group, along the keys or down the queries.
std::string groups(Medium medium, const std::vector<std::vector<Index>>& rounds, bool down,
                   double x, double y) {
  std::string out;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::vector<Index>& own = rounds[round];
    const double cell = side / double(own.size()), across = double(round) * strip;
    for (std::size_t first = 0, end = 0; first < own.size(); first = end) {
      while (end < own.size() && own[end] == own[first]) ++end;
      const auto colour = std::size_t(own[first]) % series_colours;
      const double from = double(first) * cell, length = double(end - first) * cell;
      out +=
          "<g class=\"group c" + std::to_string(colour) + "\">" +
          (down ? rectangle(x + across, y + from, strip - 1, length, paint(medium, "tile", colour))
                : rectangle(x + from, y + across, length, strip - 1,
                            paint(medium, "tile", colour))) +
          "</g>";
    }
  }
  return out;
}

double strips(const std::vector<std::vector<Index>>& rounds) {
  return rounds.empty() ? 0 : double(rounds.size()) * strip + gap;
}

struct Box {
  double width, height;
};
Box box_of(const WeightTile& tile) {
  return {side + strips(tile.query_groups) + 2,
          side + strips(tile.key_groups) + 2 + (tile.title.empty() ? 0 : title_height)};
}

/// A tile at a place. Masks are named after `id`, which no other tile of a page has.
std::string body(Medium medium, const WeightTile& tile, const std::string& id, double x, double y) {
  std::string out;
  if (!tile.title.empty()) {
    y += title_height;
    out += "<text x=\"" + hundredths(x + 1 + strips(tile.query_groups)) + "\" y=\"" +
           hundredths(y - 6) + "\"" + paint(medium, "name") + ">" + escaped(tile.title) + "</text>";
  }
  out += groups(medium, tile.key_groups, false, x + 1 + strips(tile.query_groups), y);
  out += groups(medium, tile.query_groups, true, x, y + 1 + strips(tile.key_groups));
  x += 1 + strips(tile.query_groups);
  y += 1 + strips(tile.key_groups);
  const Cells cells(tile, most_cells);
  out += rectangle(x, y, side, side, paint(medium, "ground")) + "<g class=\"weights\">" +
         layer(medium, id + "p", mask_image(cells, false), x, y, 0) +
         layer(medium, id + "n", mask_image(cells, true), x, y, 1) + "</g>" +
         rectangle(x, y, side, side, paint(medium, "frame"));
  if (tile.has_edge()) {
    // Query i reads keys from i - span on.
    const double down = tile.span / double(tile.queries) * side;
    const double across = (1 - tile.span / double(tile.keys)) * side;
    out += "<path d=\"M" + hundredths(x) + " " + hundredths(y + down) + "L" +
           hundredths(x + across) + " " + hundredths(y + side) + "\"" + paint(medium, "edge") +
           "/>";
  }
  return out;
}

constexpr const char* svg_names =
    " xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"";

}  // namespace

Index WeightTile::read_cells() const {
  const Cells cells(*this, most_cells);
  Index count = 0;
  for (std::size_t i = 0; i < cells.values.size(); ++i) count += cells.reads(i);
  return count;
}

std::string draw(const WeightTile& tile) {
  const Box box = box_of(tile);
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a, so that tiles of a page have other names
  const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
  for (const char c : tile.title) mix(std::uint8_t(c));
  for (const float weight : tile.weights)
    mix(std::isfinite(weight) ? std::uint64_t(std::llround(double(weight) * 1e6)) : 1);
  return "<svg class=\"chart reading\"" + std::string(svg_names) + " viewBox=\"0 0 " +
         hundredths(box.width) + " " + hundredths(box.height) + "\" role=\"img\" aria-label=\"" +
         escaped(tile.title.empty() ? "what is read" : tile.title) + "\">" +
         body(Medium::page, tile, "w" + std::to_string(hash), 0, 0) + "</svg>\n";
}

std::string svg_file(const std::vector<WeightTile>& tiles, std::size_t columns,
                     const std::vector<std::string>& rows) {
  constexpr double margin = 12, row_title = 26;
  Box cell{0, 0};
  for (const WeightTile& tile : tiles) {
    const Box own = box_of(tile);
    cell = {std::max(cell.width, own.width), std::max(cell.height, own.height)};
  }
  const double width = margin + double(columns) * (cell.width + margin);
  const double row = row_title + cell.height + margin;
  const double height = margin + row * double(rows.size());
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg" + std::string(svg_names) +
                    " width=\"" + hundredths(width) + "\" height=\"" + hundredths(height) +
                    "\" viewBox=\"0 0 " + hundredths(width) + " " + hundredths(height) +
                    "\" font-family=\"" + file_font + "\" font-size=\"12\">\n" +
                    rectangle(0, 0, width, height, " fill=\"" + light_colour("paper") + "\"") +
                    "\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    out += "<text x=\"" + hundredths(margin) + "\" y=\"" +
           hundredths(margin + row * double(i) + 14) + "\" font-weight=\"600\" fill=\"" +
           light_colour("ink") + "\">" + escaped(rows[i]) + "</text>\n";
  for (std::size_t i = 0; i < tiles.size(); ++i)
    if (tiles[i].queries > 0)
      out += body(Medium::file, tiles[i], "w" + std::to_string(i),
                  margin + double(i % columns) * (cell.width + margin),
                  margin + row_title + double(i / columns) * row) +
             "\n";
  return out + "</svg>\n";
}

std::string block_text(const WeightTile& tile, Index columns) {
  const Cells cells(tile, columns);
  // A character shows two cells, one above the other, in one of four shades each where they agree,
  // and by halves where only one is read.
  const auto strength = [&](Index row, Index column) {
    if (row >= cells.rows) return 0.0;
    return cells.shade(std::size_t(row * cells.columns + column));
  };
  std::string out;
  for (Index row = 0; row < cells.rows; row += 2) {
    std::string line;
    for (Index column = 0; column < cells.columns; ++column) {
      const double above = strength(row, column), below = strength(row + 1, column);
      if (above > 0 && below > 0) {
        const double mean = (above + below) / 2;
        line += mean > 0.75 ? "█" : mean > 0.5 ? "▓" : mean > 0.3 ? "▒" : "░";
      } else {
        line += above > 0 ? "▀" : below > 0 ? "▄" : " ";
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace weft::experiments
