#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/draw/weight_tile.h"
#include "experiments/show/shown_sequence.h"
#include "layers/settings/observed_plans.h"

namespace weft::experiments {

/// What one head read.
struct ShownHead {
  WeightTile tile;
  std::string attention;  ///< NAME of [attention.NAME]
  std::string groups;     ///< "12 buckets in 4 rounds"; empty where there are none
  double keys = 0;      ///< that a query reads with more than a hundredth of its weight, on average
  double distance = 0;  ///< of the keys from their query, on average by weight
  double sum = 0;       ///< of the weights of a query, on average
};

/// What the heads of one layer read, at one of its calls.
struct ShownLayer {
  std::string title;  ///< "layer 1", "encoder, layer 2", "layer 1, step 3"
  std::vector<ShownHead> heads;
  std::vector<std::string> query_names, key_names;  ///< of tokens; rows that are none have "·"
};

/// What head h of a group read of the first sequence, padding left out.
WeightTile tile_of(const layers::Observation& seen, Index h);

/// Collects what the heads of a model read of a sequence, layer by layer.
class ReadingCollector {
 public:
  /// What a mechanism reports; of a batch only the first sequence is kept.
  void add(const layers::Observation& seen);
  void clear() { seen_.clear(); }
  /// In the order in which they were read. Padding is left out.
  std::vector<ShownLayer> layers(const ShownSequence& sequence, bool is_seq2seq) const;

 private:
  std::vector<layers::Observation> seen_;
};

}  // namespace weft::experiments
