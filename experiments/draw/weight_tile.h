#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/real.h"
#include "experiments/draw/paint.h"

namespace weft::experiments {

using core::Index;

/// How strongly the queries of one head read its keys, as a square: a row for each query, a column
/// for each key, darker where more is read. Weights below 0 have a colour of their own, and what is
/// read at all differs from what is not.
struct WeightTile {
  std::string title = {};
  Index queries = 0, keys = 0;
  std::vector<float> weights = {};  ///< [queries, keys]
  /// The group of each token, such as its bucket, one row for each round; empty where there are no
  /// groups. They are drawn as strips of colours along the keys and the queries.
  std::vector<std::vector<Index>> query_groups = {}, key_groups = {};
  /// How far back the head reads, drawn as a line; NaN for none.
  double span = std::numeric_limits<double>::quiet_NaN();

  bool has_edge() const { return span > 0 && span < double(keys); }
  /// How many cells of the picture have any weight.
  Index read_cells() const;
};

/// The tile as an <svg> element of a page, which has a class of its own for each kind of mark:
/// "weights" (one), "group" (a run of tokens of one group), "edge". Equal names give equal
/// pictures.
std::string draw(const WeightTile& tile);

/// Several tiles in rows of `columns` as an SVG file, light, with every colour in it; `rows` has a
/// name for each row. Empty tiles are left out.
std::string svg_file(const std::vector<WeightTile>& tiles, std::size_t columns,
                     const std::vector<std::string>& rows);

/// A tile in characters, two rows of cells in each line, for a terminal that takes UTF-8.
std::string block_text(const WeightTile& tile, Index columns);

}  // namespace weft::experiments
