#pragma once

#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// How attention that is factorised into two sets of keys, near and far, spreads them: every head
/// reads both, the first half of the heads reads near and the other far, or layers take turns.
struct Factorised {
  enum class HeadsUse { merged, separate, interleaved };

  HeadsUse heads_use = HeadsUse::merged;
  Index stride = 0;

  void fields(core::Fields& field, const AttentionSite& typical);
  /// The stride itself; when it is 0, an image's row or the nearest to the root of the length.
  Index stride_at(const AttentionSite& site) const;
  /// Heads whose patterns differ: all, or 1.
  Index distinct(const AttentionSite& site) const {
    return heads_use == HeadsUse::separate ? site.heads : 1;
  }
  /// The pattern of a head.
  Pattern of_head(const AttentionSite& site, Index head, Pattern near, const Pattern& far) const;
};

}  // namespace weft::layers
