#pragma once

#include <string>
#include <vector>

#include "experiments/draw/table.h"
#include "experiments/show/shown_reading.h"

namespace weft::experiments {

/// What a run's model read of a sequence.
struct ShownRun {
  std::string name;  ///< of its directory
  Index step = 0;    ///< of the checkpoint
  ShownSequence sequence;
  std::vector<ShownLayer> layers;
  Index query = -1;  ///< whose keys are listed, from 0; below 0, or beyond the end, the last
};

/// One row for each head, as numbers.
Table reading_table(const ShownRun& run);
/// The heads drawn with characters, three side by side, of a large model the first twelve.
std::string reading_text(const ShownRun& run);
/// The page: one file that needs nothing else.
std::string show_page(const ShownRun& run);
/// The tiles of all heads, a row for each layer.
std::string show_picture(const ShownRun& run);

}  // namespace weft::experiments
