#pragma once

#include <cstdint>
#include <vector>

#include "layers/attention/contract/key_labels.h"
#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// A pattern laid out for the kernel at given lengths. Queries are taken in blocks whose rows read
/// much the same keys; each block has its own columns, the keys that any of its rows reads, cut
/// into panels; each row knows the ranges of columns that it reads itself. Nothing here grows
/// faster than the pairs that are scored.
///
/// A round holds every query at most once. Classes of dilated atoms are separate rounds, since
/// their blocks join other queries; a pair is scored in one round only.
struct PatternPlan {
  /// The most rows of a block and the most columns of a panel.
  static constexpr Index most_rows = 128, key_tile = 256;

  /// Up to `key_tile` columns: keys first_key, first_key + step, ..., or those listed in `gathered`
  /// from `list` on when the keys are scattered; and the rows of the block that read any of them.
  struct Panel {
    Index first_column, columns;
    Index first_row, rows;
    Index first_key, step;
    Index list = -1;
  };
  /// Queries first_query, first_query + step, ...
  struct Block {
    Index first_query, queries, step;
    Index first_row;  ///< into `rows`
    Index first_panel, panels;
    Index columns;
    Interval labels{0, 0};  ///< those of its rows lie in here; empty where it has none
  };
  struct Round {
    Index first_block, blocks;
  };

  std::vector<Round> rounds;
  std::vector<Block> blocks;
  std::vector<Panel> panels;
  std::vector<std::int32_t> gathered;
  std::vector<Index> rows;       ///< row r reads ranges[rows[r]] .. ranges[rows[r + 1]]
  std::vector<Interval> ranges;  ///< in the columns of the row's block
  /// With labels by interval: row r has label_runs[label_rows[r]] .. label_runs[label_rows[r + 1]],
  /// in the columns of its block; none where all that it reads has one label, which drops out of
  /// its softmax.
  std::vector<Index> label_rows;
  std::vector<LabelRun> label_runs;
  Index queries = 0, keys = 0;
  Index pairs = 0;  ///< scored (query, key) pairs
  /// Key less query of every pair lies in here; unbounded where panels are aligned.
  Interval offsets{never, -never};
  Index area = 0;  ///< rows x columns of all panels
  /// Some query is in more rounds than one or in none: outputs are zeroed before the first block
  /// adds to them, not by the blocks.
  bool zeroed_beforehand = false;
};

/// Where panels are cut: `tight` about what the rows of a block read; `aligned` at multiples of a
/// fixed number of keys and with all rows of their block, so that what later rows read cannot move
/// the order in which an earlier row's sums run.
enum class PanelCut { tight, aligned };

/// How queries are cut into blocks beyond what the pattern says.
struct PlanHints {
  PanelCut cut = PanelCut::tight;
  const KeyLabels* labels = nullptr;  ///< null for none
  std::vector<Index> breaks = {};     ///< queries, ascending, that begin a block
  Index shift = 0;                    ///< the pattern's position of query 0
};

PatternPlan plan_pattern(const Pattern& pattern, Index queries, Index keys, bool causal,
                         const PlanHints& hints = {});

}  // namespace weft::layers
