#pragma once

#include <string_view>

#include "autograd/state.h"
#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// Random key blocks of every query block, drawn once and kept in the checkpoint. Head h's block I
/// reads `count` blocks of which other atoms read nothing (those with gaps aside); the draw depends
/// on (seed, layer, head, query block) alone.
class DrawnBlocks {
 public:
  struct Settings {
    Index block = 64;
    Index count = 3;
    Index seed = 0;

    /// `key` names the number of blocks; `covered` are those that no draw can give.
    void fields(core::Fields& field, std::string_view key, const AttentionSite& typical,
                Index covered = 1);
  };

  DrawnBlocks(const AttentionSite& site, const Settings& settings, const Pattern& others);

  Pattern of_head(Index head) const;
  autograd::State& table() { return table_; }
  const core::Tensor& table() const { return table_.value(); }

 private:
  Settings settings_;
  autograd::State table_;  ///< [H, blocks, count]; -1 where fewer are left to draw from
};

}  // namespace weft::layers
