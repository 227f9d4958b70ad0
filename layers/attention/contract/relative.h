#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/contract/position_kind.h"

namespace weft::layers {

/// Positions as attention sees them: what a score gains by the offset of its key from its query.
/// Offsets fall under labels, and tables hold a row for each label, so that nothing of queries x
/// keys x D exists:
///   score_ij = scale (content_i . k_j + place_i . keys[label]) + bias[label]
///   out_i    = sum_j weight_ij (v_j + values[label])          label = labels[j - i]
/// Tables that a kind does not have are left out.
class RelativePositions {
 public:
  /// The tables for the offsets -past .. future.
  struct Terms {
    Index past = 0;
    std::vector<std::int32_t> labels;  ///< labels[past + offset]; between equal ones, equal
    Var keys, values;                  ///< [labels, D] for all heads alike, or [labels, H D]
    Var bias;                          ///< [H, labels]
  };

  virtual ~RelativePositions() = default;
  virtual Terms terms(const Pass& pass, Index past, Index future) const = 0;
  /// The queries that keys and that tables are scored by; both q itself unless a kind shifts them.
  virtual HeadBlock content(const Pass&, const HeadBlock& q) const { return q; }
  virtual HeadBlock place(const Pass&, const HeadBlock& q) const { return q; }
  /// Lists the parameters that are not shared over layers.
  virtual void visit(autograd::Inventory&) {}
};

/// Which relative positions, and their sizes.
struct RelativeSettings {
  PositionKind kind = PositionKind::none;  ///< shaw, t5 or xl; none of them with another
  Index clip = 64;
  Index buckets = 32;
  Index bucket_distance = 128;

  /// Lists what `kind` reads.
  void fields(core::Fields& field);
  bool chosen() const {
    return kind == PositionKind::shaw || kind == PositionKind::t5 || kind == PositionKind::xl;
  }
};

/// The relative positions of a head group; null when the settings name none.
std::shared_ptr<RelativePositions> make_relative(const RelativeSettings& settings,
                                                 const AttentionSite& site);

/// The T5 bucket of an offset: small distances have their own, larger ones share by their
/// logarithm, and the last takes all from `distance` on. The future has the upper half of them.
std::int32_t t5_bucket(Index offset, bool causal, Index buckets, Index distance);

}  // namespace weft::layers
