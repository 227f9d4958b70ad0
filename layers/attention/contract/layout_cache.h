#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <vector>

#include "core/error.h"
#include "layers/attention/contract/sequences.h"

namespace weft::layers {

/// What attention makes of how the rows of a sequence lie, such as plans. Layers with the same
/// rules share one; it forgets what was used longest ago once all weighs much. One thread at a
/// time. weight_of: how many numbers a `Made` keeps
template <class Made, std::size_t (*weight_of)(const Made&)>
class LayoutCache {
 public:
  /// Made by `make` where it is not known. `causal` is a part of the key.
  Made of(const RowLayout& layout, bool causal, const std::function<Made()>& make) {
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
      return entry.causal == causal && entry.layout == layout;
    });
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return entries_.front().made;
    }
    const Made made = make();
    entries_.push_front({layout, causal, made, weight_of(made)});
    weight_ += entries_.front().weight;
    while (weight_ > most_weight && entries_.size() > 1) {
      weight_ -= entries_.back().weight;
      entries_.pop_back();
    }
    return made;
  }

  /// One for each sequence of a call.
  std::vector<Made> of_all(const Sequences& sequences,
                           const std::function<Made(const RowLayout&)>& make) {
    core::require(sequences.rows && Index(sequences.rows->size()) == sequences.batch,
                  "attention: the rows of ", sequences.batch, " sequences are not laid out");
    std::vector<Made> all;
    for (const RowLayout& layout : *sequences.rows) {
      core::require(layout.rows <= sequences.queries && sequences.queries == sequences.keys,
                    "attention: ", layout.rows, " rows in sequences of ", sequences.queries);
      all.push_back(of(layout, sequences.causal, [&] { return make(layout); }));
    }
    return all;
  }

  void clear() {
    entries_.clear();
    weight_ = 0;
  }

 private:
  static constexpr std::size_t most_weight = std::size_t(1) << 21;  // some tens of megabytes
  struct Entry {
    RowLayout layout;
    bool causal;
    Made made;
    std::size_t weight;
  };
  std::list<Entry> entries_;  ///< used last first
  std::size_t weight_ = 0;
};

}  // namespace weft::layers
