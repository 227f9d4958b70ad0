#pragma once

#include <optional>

#include "core/fields.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/memory/product_memory.h"
#include "layers/parts/norm.h"

namespace weft::layers {

/// The size of a memory and how it is read.
struct MemorySettings {
  enum class QueryNorm { layer, batch, none };

  Index keys = 128;   ///< C, of either half: C² slots
  Index heads = 4;    ///< H, which ask by themselves and read the same values
  Index top = 32;     ///< slots that a head reads
  Index query = 128;  ///< columns of a query, both halves
  QueryNorm norm = QueryNorm::layer;
  double rate = 1e-3;  ///< learning rate of the values

  void fields(core::Fields& field);
};

/// A product-key memory in the place of a feed-forward: queries x Q + b, normalised, in H heads of
/// two halves; each head reads the values of the `top` slots of C² with the largest scores, which
/// are found exactly by looking at 2 C keys. Values are one row-sparse table, so that a step moves
/// the rows that were read and no others.
///
/// Norm: layer, each half of each head separately, with one gain and shift for all; batch, columns
/// over all real rows of the call, which reads the future in training. Padding is left out.
/// Which slots are read is a decision, read back in a replay. One token costs W H q of queries,
/// H C q of scores and H top W of values.
class MemoryFeedForward final : public FeedForward {
 public:
  MemoryFeedForward(Index width, const MemorySettings& settings, Init query);

  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const override;

  Index weights() const override;
  /// Of the last training step: the share of slots that were read, and the bits by which the reads'
  /// distribution over slots differs from an even one (Kullback-Leibler).
  std::vector<autograd::Metric> metrics() const;
  void visit(Inventory& inventory) override;

 private:
  Var read(const Pass& pass, const Var& x) const;
  Var queries(const Pass& pass, const Var& x) const;
  MemoryTables tables() const { return {keys_, values_, settings_.top}; }
  void propose_use(const Pass& pass, const Slots& slots) const;

  MemorySettings settings_;
  Parameter query_;  ///< [H q, W]
  std::optional<Parameter> query_bias_;
  std::optional<Norm> norm_;
  Parameter keys_;               ///< [H, 2, C, q / 2]
  Parameter values_;             ///< [C², W]
  mutable autograd::State use_;  ///< [C²]: reads of each slot in the last step
};

}  // namespace weft::layers
